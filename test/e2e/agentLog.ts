import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Editor } from './provided';

interface LogSample {
  kind: string;
  pid: number;
  timeMs: number;
  usedBytes: number;
  reservedBytes: number;
  simulated: boolean;
}

/** A second client of the agents, independent of the editor: `vram-lens watch --format jsonl`. */
export class AgentLog {
  private readonly child: ChildProcess;
  private readonly samples: LogSample[] = [];

  constructor(editor: Editor) {
    this.child = spawn(process.execPath, [path.join(editor.root, 'dist/cli.js'), 'watch', '--format', 'jsonl'], {
      env: { ...process.env, XDG_RUNTIME_DIR: editor.runtime },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (this.child.stdout === null) throw new Error('watch has no output');
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const record = JSON.parse(line) as LogSample;
      if (record.kind === 'sample') this.samples.push(record);
    });
  }

  /** The newest sample of a process; throws while there is none. */
  sample(pid: number): LogSample {
    const sample = this.samples.findLast((one) => one.pid === pid);
    if (sample === undefined) throw new Error(`the agent of ${pid} has sent no sample`);
    return sample;
  }

  /** The samples of a process from a time (in milliseconds since 1970) on. */
  since(pid: number, timeMs: number): LogSample[] {
    return this.samples.filter((one) => one.pid === pid && one.timeMs >= timeMs);
  }

  close(): void {
    this.child.kill();
  }
}
