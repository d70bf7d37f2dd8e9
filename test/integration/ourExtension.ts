import * as vscode from 'vscode';

/** The extension under test; throws when this VS Code does not have it. */
export function ourExtension(): vscode.Extension<unknown> {
  const extension = vscode.extensions.getExtension('vram-lens.vram-lens');
  if (extension === undefined) throw new Error('VRAM Lens is not loaded');
  return extension;
}
