import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';

/** Where a socket comes from, as its name says it: `<host8>-<boot8>-<pidns>-<pid>-<start>.sock`. */
export interface SocketOrigin {
  host: string;
  boot: string;
  pidNamespace: string;
  pid: number;
  /** Start time of the process, in the unit of `/proc/<pid>/stat` (clock ticks since boot) where there is one. */
  start: string;
}

const namePattern = /^([0-9a-f]{8})-([0-9a-f]{1,8})-([0-9a-z]+)-(\d+)-(\d+)\.sock$/;

/** The parts of a socket's file name; null when it is not one of ours. */
export function parseSocketName(fileName: string): SocketOrigin | null {
  const match = namePattern.exec(fileName);
  if (match === null) return null;
  const [, host, boot, pidNamespace, pid, start] = match as unknown as [string, string, string, string, string, string];
  return { host, boot, pidNamespace, pid: Number(pid), start };
}

/** This machine, in the words of socket names. */
export interface Here {
  host: string;
  boot: string;
  pidNamespace: string;
}

/** Reads this machine's host, boot and PID namespace; the agent's `identity.py` computes the same words. */
export function readHere(): Here {
  return {
    host: createHash('sha256').update(os.hostname()).digest('hex').slice(0, 8),
    boot: firstOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll('-', '').slice(0, 8), '0'),
    pidNamespace: firstOr(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0', '0'),
  };
}

function firstOr(read: () => string, otherwise: string): string {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
