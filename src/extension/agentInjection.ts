import path from 'node:path';
import * as vscode from 'vscode';
import { agentEnvironment, pythonFolders } from '../sessions/environment';
import { settingKeys } from '../shared/manifest';

const variable = 'PYTHONPATH';

/**
 * Puts the agent into the environment of terminals, tasks and debug sessions, while the setting is on and the
 * workspace is trusted.
 */
export class AgentInjection implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly collection: vscode.GlobalEnvironmentVariableCollection,
    /** The folder `installHome` made. */
    private readonly home: string,
  ) {
    this.apply();
    this.subscriptions = [
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(settingKeys.agentEnabled)) this.apply();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.apply()),
      ...['debugpy', 'python'].map((type) =>
        vscode.debug.registerDebugConfigurationProvider(type, {
          resolveDebugConfigurationWithSubstitutedVariables: (_folder, configuration) => this.debug(configuration),
        }),
      ),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /**
   * Every change of the collection puts a "relaunch" mark on all open terminals, so it is touched only where it differs.
   * https://github.com/microsoft/vscode/issues/118543
   */
  private apply(): void {
    if (!injectionWanted()) {
      this.collection.clear();
      return;
    }
    this.collection.description = new vscode.MarkdownString(
      vscode.l10n.t('Shows the GPU memory of PyTorch trainings in the GPU Memory panel.'),
    );
    const folder = pythonFolders(this.home).join(path.delimiter);
    // With nothing to follow, a separator would leave an empty entry, which Python reads as the current folder.
    const follows = terminalPythonPath() !== '';
    const value = follows ? folder + path.delimiter : folder;
    const type = follows
      ? vscode.EnvironmentVariableMutatorType.Prepend
      : vscode.EnvironmentVariableMutatorType.Replace;
    const now = this.collection.get(variable);
    if (now?.value === value && now.type === type) return;
    if (follows) this.collection.prepend(variable, value);
    else this.collection.replace(variable, value);
  }

  private debug(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration {
    if (configuration.request !== 'launch' || !injectionWanted()) return configuration;
    const own: unknown = configuration['env'];
    const env = typeof own === 'object' && own !== null ? (own as Record<string, string>) : {};
    const current = { PYTHONPATH: process.env[variable], ...env };
    return { ...configuration, env: { ...env, ...agentEnvironment(current, { home: this.home, simulate: null }) } };
  }
}

function injectionWanted(): boolean {
  return vscode.workspace.isTrusted && vscode.workspace.getConfiguration().get<boolean>(settingKeys.agentEnabled, true);
}

/** The PYTHONPATH a terminal has without us: the editor's own, or the terminal settings'. */
function terminalPythonPath(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'osx' : 'linux';
  const settings = vscode.workspace
    .getConfiguration()
    .get<Record<string, string | null>>(`terminal.integrated.env.${system}`);
  return settings?.[variable] ?? process.env[variable] ?? '';
}
