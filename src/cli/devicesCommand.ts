import { once } from 'node:events';
import path from 'node:path';
import { ProbeClient } from '../probe/probeClient';
import { SocketDiscovery } from '../sessions/discovery';
import type { DriverReading } from '../shared/driverReading';
import { noPositionals, oneOf, parse } from './arguments';
import { devicesObject, devicesText, driverMessage } from './devicesReport';

const periodMs = 1000;

/** `vram-lens devices`. Exit code 2 when a driver is there and could not be asked; none at all is a calm answer. */
export async function devicesCommand(args: string[], home: string): Promise<number> {
  const { values, positionals } = parse(args, { watch: { type: 'boolean' }, format: { type: 'string' } });
  noPositionals(positionals);
  const format = oneOf(values.format, '--format', ['text', 'json']);
  const log = (message: string): void => void process.stderr.write(`vram-lens: ${message}\n`);
  const probe = new ProbeClient(path.join(home, 'probe.js'), log);
  const end = new AbortController();
  const stop = (): void => end.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const stopped = once(end.signal, 'abort');
  try {
    for (;;) {
      const reading = await probe.read(true);
      if (end.signal.aborted) return 0;
      print(reading, await sessionPids(), format);
      if (values.watch !== true) return ['ok', 'absent'].includes(reading.driver.state) ? 0 : 2;
      let timer: NodeJS.Timeout | null = null;
      const pause = new Promise((resolve) => (timer = setTimeout(resolve, periodMs)));
      await Promise.race([pause, stopped]);
      if (timer !== null) clearTimeout(timer);
      if (end.signal.aborted) return 0;
    }
  } finally {
    probe.close();
    stop();
  }
}

function print(reading: DriverReading, sessions: ReadonlySet<number>, format: 'text' | 'json'): void {
  if (format === 'json') {
    process.stdout.write(`${JSON.stringify(devicesObject(reading, sessions))}\n`);
    return;
  }
  const message = driverMessage(reading.driver);
  const lines = reading.driver.state === 'ok' ? devicesText(reading, sessions) : [message];
  const stream = ['ok', 'absent'].includes(reading.driver.state) ? process.stdout : process.stderr;
  stream.write(`${lines.join('\n')}\n`);
}

/** PIDs of this user's sessions: those whose agent has a socket here. Nobody is connected for that. */
async function sessionPids(): Promise<Set<number>> {
  return new Promise((resolve) => {
    const discovery = new SocketDiscovery((sockets) => {
      discovery.stop();
      resolve(new Set(sockets.map(({ origin }) => origin.pid)));
    });
    discovery.start();
  });
}
