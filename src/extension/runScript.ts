import path from 'node:path';
import * as vscode from 'vscode';
import { agentEnvironment } from '../sessions/environment';
import { commandIds } from '../shared/manifest';
import { parseSizes } from '../shared/sizes';
import { pythonFor } from './interpreter';
import { shellLine } from './shellLine';

const defaultSimulatedSize = '24GiB';

/** Runs the current Python file in a new terminal with the agent, on the real devices. */
export async function runWithAgent(home: string): Promise<void> {
  const file = await currentPythonFile();
  if (file === null) return;
  const env = agentEnvironment(process.env, { home, simulate: null });
  await runInTerminal(vscode.l10n.t('GPU Memory: {0}', path.basename(file.fsPath)), file, env);
}

/** Asks for a card's size, then runs the current Python file on such a simulated device. */
export async function runSimulated(home: string): Promise<void> {
  const file = await currentPythonFile();
  if (file === null) return;
  const size = await vscode.window.showInputBox({
    title: vscode.l10n.t('Run Current File on Simulated GPU'),
    prompt: vscode.l10n.t('Memory of the simulated GPU; several, separated by commas, for several GPUs'),
    value: defaultSimulatedSize,
    validateInput: (value) => (parseSizes(value) === null ? vscode.l10n.t('Write a size such as 24GiB.') : undefined),
  });
  if (size === undefined) return;
  const simulate = parseSizes(size)?.join(',') ?? defaultSimulatedSize;
  const env = agentEnvironment(process.env, { home, simulate });
  await runInTerminal(vscode.l10n.t('Simulated GPU: {0}', path.basename(file.fsPath)), file, env);
}

async function runInTerminal(name: string, file: vscode.Uri, env: Record<string, string>): Promise<void> {
  const folder = vscode.workspace.getWorkspaceFolder(file)?.uri.fsPath ?? path.dirname(file.fsPath);
  const python = await pythonFor(file);
  const terminal = vscode.window.createTerminal({ name, cwd: folder, env });
  await vscode.commands.executeCommand(commandIds.focusPanel);
  terminal.show();
  terminal.sendText(shellLine([python, file.fsPath], vscode.env.shell));
}

/** The Python file in the active editor, saved; null after saying why there is none. */
async function currentPythonFile(): Promise<vscode.Uri | null> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage(vscode.l10n.t('Running a script needs a trusted workspace.'));
    return null;
  }
  const document = vscode.window.activeTextEditor?.document;
  if (document === undefined || document.languageId !== 'python' || document.isUntitled) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('Open the Python training script first, then run this again.'),
    );
    return null;
  }
  if (document.isDirty && !(await document.save())) return null;
  return document.uri;
}
