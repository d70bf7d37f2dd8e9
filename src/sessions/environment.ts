import path from 'node:path';
import { environmentVariables } from '../shared/manifest';

export interface EnvironmentOptions {
  /** Folder that holds `agent/` and `simulator/`. */
  home: string;
  /** Sizes of simulated devices, e.g. `24GiB`; null: the real ones. */
  simulate: string | null;
}

/**
 * The variables that put the agent (and the simulator) into a Python started with them. An empty entry in PYTHONPATH
 * would put the current folder before the standard library, so the separator is written only where something follows.
 * @param current the environment the child would have had.
 */
export function agentEnvironment(current: NodeJS.ProcessEnv, options: EnvironmentOptions): Record<string, string> {
  const ours = pythonFolders(options.home);
  const theirs = current['PYTHONPATH'];
  // Given twice (a terminal of ours that runs `vram-lens run`): the entries stand there once.
  const rest = (theirs ?? '').split(path.delimiter).filter((entry) => !ours.includes(entry));
  const entries = theirs === undefined || theirs === '' ? ours : [...ours, ...rest];
  const variables: Record<string, string> = { PYTHONPATH: entries.join(path.delimiter) };
  if (options.simulate !== null) variables[environmentVariables.simulate] = options.simulate;
  return variables;
}

/**
 * What goes on PYTHONPATH, first entry first. The simulator is always among it and does nothing without its variable:
 * VS Code gives all terminals one PYTHONPATH, also those that ask for an environment of their own (a remote server
 * does not honour `strictEnv`), so that variable alone must be able to switch it on.
 */
export function pythonFolders(home: string): string[] {
  return [path.join(home, 'agent'), path.join(home, 'simulator')];
}
