import * as vscode from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';

/** Starts the language server and answers what ends it. It reads Python documents and executes nothing of them. */
export async function startAnalysis(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): Promise<vscode.Disposable> {
  const module = vscode.Uri.joinPath(context.extensionUri, 'dist', 'server.js').fsPath;
  const importable = vscode.workspace.createFileSystemWatcher('**/*.py');
  const client = new LanguageClient(
    'vramLens.analysis',
    'VRAM Lens',
    { module, transport: TransportKind.ipc },
    {
      documentSelector: [
        { language: 'python', scheme: 'file' },
        { language: 'python', scheme: 'untitled' },
        ...['jupyter-notebook', 'interactive'].map((notebook) => ({ notebook, language: 'python' })),
      ],
      // What a script imports may change outside the editor.
      synchronize: { fileEvents: importable },
      outputChannel: log,
      initializationOptions: { l10nBundle: vscode.l10n.uri?.fsPath ?? null },
    },
  );
  await client.start();
  return vscode.Disposable.from(importable, { dispose: () => void client.stop() });
}
