import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A Node script run as a user does, with a mark in its environment by which everything it started can be found. */
export class Script {
  private readonly mark = `VRAM_LENS_TEST_MARK=${randomUUID()}`;
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;
  output = '';

  constructor(args: string[], env: Record<string, string> = {}) {
    const [name, value] = this.mark.split('=') as [string, string];
    const own: NodeJS.ProcessEnv = { ...process.env, ...env, [name]: value };
    // As if started by hand: not the part of a test run that is.
    delete own['VRAM_LENS_STARTED_BY'];
    delete own['VRAM_LENS_OUTERMOST'];
    this.child = spawn(process.execPath, args, { cwd: root, env: own, stdio: ['ignore', 'pipe', 'pipe'] });
    const keep = (text: Buffer): void => void (this.output += text.toString());
    this.child.stdout?.on('data', keep);
    this.child.stderr?.on('data', keep);
    this.ended = new Promise((resolve) => this.child.on('close', (code) => resolve(code)));
  }

  /** The exit code, when it has ended. */
  code(): Promise<number | null> {
    return this.ended;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Waits until the output holds `text`. */
  async says(text: string, limitS = 150): Promise<void> {
    const deadline = Date.now() + limitS * 1000;
    while (!this.output.includes(text)) {
      if (Date.now() > deadline || this.child.exitCode !== null) {
        throw new Error(`it did not say "${text}" but:\n${this.output}`);
      }
      await sleep(100);
    }
  }

  /** Command lines of what the script started and is still there, after a moment in which the dead are collected. */
  async leftBehind(): Promise<string[]> {
    for (let left = 20; left > 0 && this.marked().length > 0; left--) await sleep(100);
    return this.marked();
  }

  /** Ends everything that carries the mark, so that a failing test leaves nothing either. */
  killAll(): void {
    for (const pid of this.pids()) process.kill(pid, 'SIGKILL');
  }

  marked(): string[] {
    return this.pids().map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));
  }

  private pids(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && read(`/proc/${name}/environ`).split('\0').includes(this.mark))
      .map(Number);
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
