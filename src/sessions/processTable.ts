import { readFileSync } from 'node:fs';

export interface ProcessStat {
  parentPid: number;
  /** `R`, `S`, `Z` … as the kernel prints it. */
  state: string;
  /** Clock ticks since boot. */
  start: string;
}

/** One process as `/proc` shows it; null when it is gone or there is no `/proc`. */
export function readProcess(pid: number): ProcessStat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is the command in parentheses and may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  const start = fields[19];
  if (state === undefined || parent === undefined || start === undefined) return null;
  return { state, parentPid: Number(parent), start };
}

/** Whether the process still runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  const stat = readProcess(pid);
  if (stat !== null) return stat.state !== 'Z' && stat.state !== 'X';
  if (process.platform === 'linux') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether `pid` is `ancestor` or was started by it, directly or through others. */
export function descendsFrom(pid: number, ancestor: number): boolean {
  let current = pid;
  for (let depth = 0; depth < 64 && current > 1; depth++) {
    if (current === ancestor) return true;
    const stat = readProcess(current);
    if (stat === null) return false;
    current = stat.parentPid;
  }
  return false;
}
