import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import * as l10n from '@vscode/l10n';
import { UsageError } from './usageError';

export interface ChildEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const passedOn: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

export interface Child {
  process: ChildProcess;
  pid: number;
  ended: Promise<ChildEnd>;
}

/**
 * Starts a command whose signals are its own: what is sent to us is passed on. Ctrl-C reaches the whole foreground
 * group anyway and would come twice.
 * @throws UsageError when there is no such program.
 */
export async function startChild(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  stdio: StdioOptions,
): Promise<Child> {
  const [program, ...args] = command;
  if (program === undefined) throw new UsageError(l10n.t('Bad arguments: the command is missing.'));
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  const interrupt = (signal: NodeJS.Signals): void => {
    if (!process.stdin.isTTY) passOn(signal);
  };
  for (const signal of passedOn) process.on(signal, passOn);
  process.on('SIGINT', interrupt);
  // Only now: a signal that comes before there is a handler would end us and leave the command running.
  const child = spawn(program, args, { env, stdio });
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once('close', (code, signal) => {
      for (const one of passedOn) process.off(one, passOn);
      process.off('SIGINT', interrupt);
      resolve({ code, signal });
    });
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? l10n.t('there is no such program') : error.message;
      reject(new UsageError(l10n.t('{0} cannot be started: {1}.', program, reason)));
    });
  });
  return { process: child, pid, ended };
}
