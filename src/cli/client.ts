import { SessionHub } from '../sessions/sessionHub';

/** How the command line names itself to agents. */
const client = 'vram-lens-cli';

/** A hub whose complaints go to standard error. */
export function openHub(hz: number, wants?: (pid: number) => boolean): SessionHub {
  const log = (message: string): void => void process.stderr.write(`vram-lens: ${message}\n`);
  return new SessionHub(wants === undefined ? { client, hz, log } : { client, hz, log, wants });
}
