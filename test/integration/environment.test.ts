import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { settingKeys } from '../../src/shared/manifest';
import { ourExtension } from './ourExtension';

/** What a new terminal has in PYTHONPATH; null when it is not set there. */
async function terminalPythonPath(): Promise<string | null> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'vram-lens-env-'));
  const file = path.join(folder, 'value');
  // A shell without start-up files, so that only the editor decides what it has.
  const terminal = vscode.window.createTerminal({
    name: 'environment',
    shellPath: '/bin/sh',
    shellArgs: ['-c', `printf '%s' "\${PYTHONPATH-unset}" > ${file}.new && mv ${file}.new ${file}`],
  });
  try {
    for (const deadline = Date.now() + 50_000; !existsSync(file); await sleep(100)) {
      if (Date.now() > deadline) throw new Error('the terminal did not run its command');
    }
    const value = readFileSync(file, 'utf8');
    return value === 'unset' ? null : value;
  } finally {
    terminal.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The environment of new terminals follows a change a moment later. */
async function eventually(holds: (value: string | null) => boolean): Promise<string | null> {
  let value = await terminalPythonPath();
  for (let left = 20; left > 0 && !holds(value); left--) {
    await sleep(500);
    value = await terminalPythonPath();
  }
  return value;
}

describe('a terminal', () => {
  const configuration = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration();
  before(async () => {
    await ourExtension().activate();
  });
  afterEach(() => configuration().update(settingKeys.agentEnabled, undefined, vscode.ConfigurationTarget.Global));

  it('has the agent on its PYTHONPATH, and no empty entry', async () => {
    const value = await eventually((now) => now !== null);
    const entries = value?.split(path.delimiter) ?? [];
    assert.ok(!entries.includes(''), `an empty entry is the current folder for Python: ${value}`);
    assert.ok(
      entries.some((entry) => existsSync(path.join(entry, 'vram_lens_agent'))),
      `no entry of ${value} holds the agent`,
    );
  });

  it('is left alone when the setting is off', async () => {
    await configuration().update(settingKeys.agentEnabled, false, vscode.ConfigurationTarget.Global);
    assert.equal(await eventually((now) => now === null), null);
  });
});
