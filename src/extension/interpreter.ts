import * as vscode from 'vscode';
import { settingKeys } from '../shared/manifest';

/** What we use of the Python extension's API (its package is not needed for two members). */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** The Python to run `file` with: our setting, else what the Python extension has chosen, else `python3` on the path. */
export async function pythonFor(file: vscode.Uri): Promise<string> {
  const set = vscode.workspace.getConfiguration(undefined, file).get<string>(settingKeys.interpreter, '').trim();
  if (set !== '') return set;
  return (await chosenInPythonExtension(file)) ?? (process.platform === 'win32' ? 'python' : 'python3');
}

async function chosenInPythonExtension(file: vscode.Uri): Promise<string | null> {
  const extension = vscode.extensions.getExtension<PythonApi>('ms-python.python');
  if (extension === undefined) return null;
  try {
    const { environments } = await extension.activate();
    if (environments === undefined) return null;
    const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(file));
    return environment?.executable.uri?.fsPath ?? null;
  } catch {
    // Another extension's failure is no reason not to run the script.
    return null;
  }
}
