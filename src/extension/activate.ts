import path from 'node:path';
import * as vscode from 'vscode';
import { commandIds, panelViewId } from '../shared/manifest';
import type { Services } from './services';

/** Wires the extension; everything heavy is loaded at its first use. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('VRAM Lens', { log: true });
  const report = (error: unknown): void => {
    log.error(error instanceof Error ? error : String(error));
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(vscode.l10n.t('VRAM Lens could not do that: {0}', reason));
  };

  let loaded: Promise<Services> | null = null;
  const services = (): Promise<Services> =>
    (loaded ??= import('./services').then(({ Services }) => new Services(context, log)));

  let installed: Promise<string> | null = null;
  const home = (): Promise<string> =>
    (installed ??= installAgent(context).catch((error: unknown) => {
      // The next command tries again.
      installed = null;
      throw error;
    }));

  const command = (id: string, run: () => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(id, async () => {
      try {
        await run();
      } catch (error) {
        report(error);
      }
    });

  context.subscriptions.push(
    log,
    command(commandIds.showLog, () => log.show()),
    command(commandIds.freeGpuCache, async () => (await services()).freeGpuCache()),
    command(commandIds.runWithAgent, async () => (await import('./runScript')).runWithAgent(await home())),
    command(commandIds.runSimulated, async () => (await import('./runScript')).runSimulated(await home())),
    vscode.window.registerWebviewViewProvider(panelViewId, {
      resolveWebviewView: async (view) => {
        try {
          await (await services()).panel.resolve(view);
        } catch (error) {
          report(error);
        }
      },
    }),
  );
  home().catch(report);
  analyseWhenPythonOpens(context, log, report);
}

/** The language server starts with the first Python document, not before. */
function analyseWhenPythonOpens(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  report: (error: unknown) => void,
): void {
  let started = false;
  const look = (document: vscode.TextDocument): void => {
    if (started || document.languageId !== 'python') return;
    started = true;
    waiting.dispose();
    import('./analysisClient')
      .then(({ startAnalysis }) => startAnalysis(context, log))
      .then((client) => context.subscriptions.push(client))
      .catch(report);
  };
  const waiting = vscode.workspace.onDidOpenTextDocument(look);
  context.subscriptions.push(waiting);
  vscode.workspace.textDocuments.forEach(look);
}

/** Copies what Python imports to its lasting place, then puts the agent into terminals, tasks and debug sessions. */
async function installAgent(context: vscode.ExtensionContext): Promise<string> {
  const { installHome } = await import('./installedHome');
  const { AgentInjection } = await import('./agentInjection');
  const home = await installHome(path.join(context.extensionPath, 'dist'), context.globalStorageUri.fsPath);
  context.subscriptions.push(new AgentInjection(context.environmentVariableCollection, home));
  return home;
}
