import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import * as l10n from '@vscode/l10n';
import { isAlive } from '../sessions/processTable';
import type { SessionHub } from '../sessions/sessionHub';
import { noPositionals, numberBetween, oneOf, parse, positiveInteger } from './arguments';
import { openHub } from './client';
import { UsageError } from './usageError';
import { endRecord, lifecycleRecord, sampleRecord, sessionRecord, stepRecord, type WatchRecord } from './watchRecords';
import { watchTable } from './watchTable';

/** The table is read by people: twice a second is enough on a terminal, once in a file. */
const redrawMs = 500;
const appendMs = 1000;

/** `vram-lens watch`. Ends after `--for`, with the `--pid` session, or at Ctrl-C. */
export async function watchCommand(args: string[]): Promise<number> {
  const { values, positionals } = parse(args, {
    pid: { type: 'string' },
    hz: { type: 'string' },
    for: { type: 'string' },
    record: { type: 'string' },
    format: { type: 'string' },
  });
  noPositionals(positionals);
  const pid = positiveInteger(values.pid, '--pid');
  const hz = numberBetween(values.hz, '--hz', 0.2, 10) ?? 10;
  const seconds = numberBetween(values.for, '--for', 0, 1e9);
  const format = oneOf(values.format, '--format', ['text', 'jsonl']);
  if (pid !== null && !isAlive(pid)) throw new UsageError(l10n.t('There is no process {0}.', pid));
  const file = values.record === undefined ? null : await openRecord(values.record);

  const hub = openHub(hz, pid === null ? undefined : (other) => other === pid);
  const end = new AbortController();
  const stop = (): void => end.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  listen(hub, (record) => {
    const line = `${JSON.stringify(record)}\n`;
    file?.write(line);
    if (format === 'jsonl') process.stdout.write(line);
    if (record.kind === 'end' && record.pid === pid) stop();
  });
  const drawing = format === 'text' ? drawTable(hub) : null;
  const watching = hub.watch();
  const timer = seconds === null ? null : setTimeout(stop, seconds * 1000);
  const gone = pid === null ? null : setInterval(() => isAlive(pid) || hub.sessions.length > 0 || stop(), appendMs);

  if (!end.signal.aborted) await once(end.signal, 'abort');

  if (timer !== null) clearTimeout(timer);
  if (gone !== null) clearInterval(gone);
  drawing?.();
  watching.dispose();
  if (file !== null) await new Promise<void>((resolve) => file.end(resolve));
  return 0;
}

function listen(hub: SessionHub, write: (record: WatchRecord) => void): void {
  hub.onSession.on((session) => write(sessionRecord(session)));
  hub.onSample.on(({ session, sample }) => write(sampleRecord(session, sample)));
  hub.onStep.on(({ session, step }) => write(stepRecord(session, step)));
  hub.onLifecycle.on(({ session, lifecycle }) => write(lifecycleRecord(session, lifecycle)));
  hub.onEnd.on((session) => write(endRecord(session)));
}

/** Redraws in place on a terminal, else appends. The result stops it after a last table. */
function drawTable(hub: SessionHub): () => void {
  const { stdout } = process;
  let height = 0;
  let last = '';
  const draw = (): void => {
    const lines = watchTable(hub.sessions, Date.now());
    if (stdout.isTTY) {
      const up = height > 0 ? `\x1b[${height}A\r\x1b[J` : '';
      // A line longer than the terminal would wrap and break the count of lines to go up.
      const cut = lines.map((line) => line.slice(0, Math.max(20, stdout.columns) - 1));
      stdout.write(`${up}${cut.join('\n')}\n`);
      height = cut.length;
      return;
    }
    const text = lines.join('\n');
    if (text !== last) stdout.write(`${text}\n`);
    last = text;
  };
  draw();
  const timer = setInterval(draw, stdout.isTTY ? redrawMs : appendMs);
  return () => {
    clearInterval(timer);
    draw();
  };
}

async function openRecord(path: string): Promise<WriteStream> {
  const file = createWriteStream(path);
  try {
    await once(file, 'open');
  } catch (error) {
    throw new UsageError(l10n.t('{0} cannot be written: {1}', path, (error as Error).message));
  }
  file.on('error', (error) => process.stderr.write(`vram-lens: ${error.message}\n`));
  return file;
}
