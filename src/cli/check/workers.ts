import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setImmediate as otherEvents } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { text } from '../../analysis/finding';
import { examine } from './examine';
import { openParser } from './parserFiles';
import type { FileResult } from './result';
import type { Task } from './task';

export interface WorkerHome {
  home: string;
}

export interface Order {
  index: number;
  task: Task;
}

export interface Answer {
  index: number;
  result: FileResult;
}

/** More threads than this wait for each other's memory. */
const mostThreads = 8;
/** A thread's start takes as long as so many files. */
const filesPerThread = 25;
/** At a thread: the one it is at, and the next, so that it never waits. */
const ordersAtOnce = 2;

/** How many threads to use when the user does not say. */
export function defaultJobs(files: number): number {
  const free = Math.min(mostThreads, availableParallelism() - 1);
  return Math.max(1, Math.min(free, Math.floor(files / filesPerThread)));
}

/** Checks every file; results are in the order of the tasks, however many threads there are. */
export async function examineAll(
  tasks: readonly Task[],
  { jobs, home, onDone }: { jobs: number; home: string; onDone: () => void },
): Promise<FileResult[]> {
  if (jobs > 1 && tasks.length > 1) return new Pool(tasks, home, onDone).run(Math.min(jobs, tasks.length));
  if (tasks.length === 0) return [];
  const parser = await openParser(home);
  const results: FileResult[] = [];
  for (const task of tasks) {
    results.push(examine(parser, task));
    onDone();
    await otherEvents(); // Ctrl-C is one
  }
  return results;
}

class Pool {
  private readonly results: FileResult[] = [];
  private readonly queue: number[];

  constructor(
    private readonly tasks: readonly Task[],
    private readonly home: string,
    private readonly onDone: () => void,
  ) {
    this.queue = [...tasks.keys()];
  }

  async run(threads: number): Promise<FileResult[]> {
    await Promise.all(Array.from({ length: threads }, () => this.thread()));
    return this.results;
  }

  /** Runs one thread until no task is left. One that dies (out of memory) gives up the file it was at, not the rest. */
  private async thread(): Promise<void> {
    while (this.queue.length > 0) {
      const ordered = new Set<number>();
      const failure = await this.untilDone(ordered);
      const [current, ...unread] = ordered;
      if (failure === null || current === undefined) return;
      const file = this.tasks[current]?.file ?? '';
      this.done(current, { skipped: { file, reason: text('the analysis failed: {0}', failure), failed: true } });
      this.queue.unshift(...unread);
    }
  }

  /** Feeds a new worker. Null when the queue is done; else why it died, with what it did not answer in `ordered`. */
  private untilDone(ordered: Set<number>): Promise<string | null> {
    const workerData: WorkerHome = { home: this.home };
    const worker = new Worker(path.join(this.home, 'checkWorker.js'), { workerData });
    const order = (): void => {
      const index = this.queue.shift();
      const task = index === undefined ? undefined : this.tasks[index];
      if (index === undefined || task === undefined) return;
      ordered.add(index);
      worker.postMessage({ index, task } satisfies Order);
    };
    return new Promise((resolve) => {
      const finish = (failure: string | null): void => {
        resolve(failure);
        void worker.terminate();
      };
      worker.on('message', ({ index, result }: Answer) => {
        ordered.delete(index);
        this.done(index, result);
        order();
        if (ordered.size === 0) finish(null);
      });
      worker.on('error', (error) => finish(error instanceof Error ? error.message : String(error)));
      for (let count = 0; count < ordersAtOnce; count++) order();
      if (ordered.size === 0) finish(null);
    });
  }

  private done(index: number, result: FileResult): void {
    this.results[index] = result;
    this.onDone();
  }
}
