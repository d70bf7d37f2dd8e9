import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Whatever is started through here ends with this process, whichever way it ends. Every command gets a process group
 * of its own; and, since terminals inside VS Code leave that group, a mark in its environment that all its
 * descendants inherit and that is looked for at the end (on Linux, where /proc shows it).
 */
const markName = 'VRAM_LENS_STARTED_BY';
const mark = process.env[markName] ?? randomUUID();
process.env[markName] = mark;
/** Whoever set the mark clears up; a script that runs inside another one leaves the sweep to it. */
const isOutermost = process.env.VRAM_LENS_OUTERMOST === undefined;
process.env.VRAM_LENS_OUTERMOST ??= String(process.pid);

/** How long a process may take to end on its own after SIGTERM, in milliseconds. */
const grace = 3000;
const running = new Set();
let hooked = false;

/** Starts a command in a process group of its own. The options are those of `child_process.spawn`. */
export function start(command, args, options = {}) {
  hook();
  const child = spawn(command, args, { detached: process.platform !== 'win32', ...options });
  child.on('error', () => running.delete(child));
  if (child.pid !== undefined) {
    running.add(child);
    child.on('exit', () => running.delete(child));
  }
  return child;
}

/** Resolves to `{code, signal}` when the command has ended and its output is read; rejects when it cannot start. */
export function ended(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Ends one command and its group: first asks, then kills. */
export async function stop(child) {
  if (child.pid === undefined) return;
  signalGroup(child, 'SIGTERM');
  const deadline = Date.now() + grace;
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) await sleep(50);
  signalGroup(child, 'SIGKILL');
  running.delete(child);
}

/** Ends everything that was started here, and what it left behind. */
export async function stopAll() {
  await Promise.all([...running].map(stop));
  if (isOutermost) sweep();
}

function signalGroup(child, signal) {
  try {
    if (process.platform === 'win32') spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore' });
    else process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** Kills whatever still carries the mark. */
function sweep() {
  for (const pid of marked()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended in between.
    }
  }
}

/** Process numbers of this user's processes that carry the mark, without our own. */
function marked() {
  if (process.platform !== 'linux') return [];
  const needle = `${markName}=${mark}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(needle);
      } catch {
        return false; // gone, or another user's
      }
    })
    .map(Number);
}

function hook() {
  if (hooked) return;
  hooked = true;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ]) {
    let again = false;
    process.on(signal, () => {
      if (again) return;
      again = true;
      stopAll().finally(() => process.exit(code));
    });
  }
  process.on('exit', () => {
    for (const child of running) signalGroup(child, 'SIGKILL');
    if (isOutermost) sweep();
  });
}
