import * as l10n from '@vscode/l10n';
import type { FreeCacheResult } from '../shared/agentProtocol';
import { freedSentence } from '../sessions/freedSentence';
import type { Session } from '../sessions/session';
import { noPositionals, oneOf, parse, positiveInteger } from './arguments';
import { openHub } from './client';
import { UsageError } from './usageError';

/** How long a session may take to greet: it can hold the GIL for seconds. */
const findMs = 10_000;

/** `vram-lens free`. Exit code 1 when a session refused. */
export async function freeCommand(args: string[]): Promise<number> {
  const { values, positionals } = parse(args, {
    pid: { type: 'string' },
    all: { type: 'boolean' },
    format: { type: 'string' },
  });
  noPositionals(positionals);
  const pid = positiveInteger(values.pid, '--pid');
  const all = values.all === true;
  const format = oneOf(values.format, '--format', ['text', 'json']);
  if (pid !== null && all) throw new UsageError(l10n.t('Bad arguments: --pid and --all exclude each other.'));

  const hub = openHub(1, pid === null ? undefined : (other) => other === pid);
  const watching = hub.watch();
  try {
    await hub.settled(findMs);
    const sessions = hub.sessions.filter((session) => session.exit === null);
    requireChoice(sessions, pid, all);
    const answers = await Promise.all(
      sessions.map(async (session) => ({ session, result: await hub.freeCache(session) })),
    );
    const objects = answers.map(({ session, result }) => freeObject(session, result));
    if (format === 'json') process.stdout.write(`${JSON.stringify(all ? objects : objects[0])}\n`);
    else for (const { session, result } of answers) process.stdout.write(`${freeLine(session, result)}\n`);
    return answers.every(({ result }) => result.done) ? 0 : 1;
  } finally {
    watching.dispose();
  }
}

function requireChoice(sessions: readonly Session[], pid: number | null, all: boolean): void {
  if (sessions.length === 0 && pid !== null) {
    throw new UsageError(l10n.t('Process {0} is not a session with the memory agent.', pid));
  }
  if (sessions.length === 0 && !all)
    throw new UsageError(l10n.t('No training session is running with the memory agent.'));
  if (sessions.length > 1 && !all) {
    const pids = sessions.map((session) => session.pid).join(', ');
    throw new UsageError(l10n.t('Several sessions are running ({0}): choose one with --pid, or take --all.', pids));
  }
}

/** The object CLI.md fixes. */
function freeObject(session: Session, result: FreeCacheResult): Record<string, unknown> {
  const message = freedSentence(result, (text, ...values) => l10n.t(text, ...values));
  return { pid: session.pid, ...result, message };
}

function freeLine(session: Session, result: FreeCacheResult): string {
  return `${session.name} (${session.pid}): ${freedSentence(result, (text, ...values) => l10n.t(text, ...values))}`;
}
