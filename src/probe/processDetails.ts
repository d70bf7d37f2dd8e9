import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { DriverProcess, Known } from '../shared/driverReading';

interface Details {
  name: string | null;
  user: string | null;
  command: string | null;
}

const unknown: Details = { name: null, user: null, command: null };

/** Name, user and command line of processes, from Linux's /proc; elsewhere they are null, never guessed. */
export class ProcessTable {
  /** By PID and start, since PIDs are used again. */
  private readonly seen = new Map<string, Details>();
  private users: Map<number, string> | null = null;

  describe(processes: readonly { pid: number; usedBytes: Known<number> }[]): DriverProcess[] {
    if (this.seen.size > 4096) this.seen.clear();
    return processes.map(({ pid, usedBytes }) => {
      const details = this.details(pid);
      return { pid, ...(details ?? unknown), usedBytes, gone: details === null && process.platform === 'linux' };
    });
  }

  /** Null where there is no such process (here). */
  private details(pid: number): Details | null {
    try {
      const folder = `/proc/${pid}`;
      const { uid, ctimeMs } = statSync(folder);
      const key = `${pid} ${ctimeMs}`;
      const seen = this.seen.get(key);
      if (seen !== undefined) return seen;
      const words = readFileSync(`${folder}/cmdline`, 'utf8').split('\0').filter(Boolean);
      const details = {
        name: readFileSync(`${folder}/comm`, 'utf8').trim() || path.basename(words[0] ?? '') || null,
        user: this.userName(uid),
        command: words.length > 0 ? words.join(' ') : null,
      };
      this.seen.set(key, details);
      return details;
    } catch {
      return null;
    }
  }

  private userName(uid: number): string {
    this.users ??= readUsers();
    return this.users.get(uid) ?? String(uid);
  }
}

function readUsers(): Map<number, string> {
  const users = new Map<number, string>();
  try {
    for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
      const [name, , uid] = line.split(':');
      if (name !== undefined && uid !== undefined) users.set(Number(uid), name);
    }
  } catch {
    // Numbers are shown then.
  }
  return users;
}
