import assert from 'node:assert/strict';
import * as vscode from 'vscode';

describe('the extension host', () => {
  it('runs the suite', () => {
    assert.equal(vscode.env.uiKind, vscode.UIKind.Web);
  });
});
