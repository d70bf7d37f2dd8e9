import { fork, type ChildProcess } from 'node:child_process';
import type { DriverReading, DriverState } from '../shared/driverReading';
import { known } from '../shared/driverReading';
import type { ChildAnswer, NativeReading, ReadRequest } from './childMessages';
import { lookForDriver } from './driverPresence';
import { ProcessTable } from './processDetails';

/** No answer for so long: the driver hangs, and the child is killed (DESIGN section 2). */
const answerMs = 5000;
const shortestBackOffMs = 1000;
const longestBackOffMs = 60_000;

/** NVML's codes (native/nvml/abi.h) that mean something to the user. */
const driverNotLoaded = 9;
const libraryNotFound = 12;
const versionMismatch = 18;

interface Pending {
  id: number;
  resolve(answer: ChildAnswer | null): void;
}

/** Asks the driver through a child process. A reading never throws: a driver that hangs or crashes is a state. */
export class ProbeClient {
  private child: ChildProcess | null = null;
  private pending: Pending | null = null;
  private lastId = 0;
  private backOffMs = 0;
  private nextTryMs = 0;
  /** What is answered until the next try. */
  private refusal: DriverReading = without('notAnswering', null);
  private readonly processes = new ProcessTable();

  constructor(
    /** `dist/probe.js`. */
    private readonly script: string,
    private readonly log: (message: string) => void,
    private readonly timeoutMs = answerMs,
  ) {}

  /** One reading; one at a time. */
  async read(withProcesses: boolean): Promise<DriverReading> {
    // NVML's own start can load the kernel module or wake a card: it is not even loaded where there is no driver.
    if (process.env['VRAM_LENS_NVML'] === undefined && (await lookForDriver()).state === 'absent')
      return without('absent', null);
    if (Date.now() < this.nextTryMs) return this.refusal;
    const answer = await this.ask(withProcesses);
    if (answer === null) return without('notAnswering', null);
    if ('failure' in answer) {
      this.log(`The GPU probe cannot be loaded: ${answer.failure}`);
      return this.fail(without('unknown', null));
    }
    const reading = this.reading(answer.reading);
    // Each start of NVML without a driver runs modprobe where that is installed, so it is not tried every second.
    if (reading.driver.state !== 'ok') return this.fail(reading);
    this.backOffMs = 0;
    return reading;
  }

  /** Ends the child, and NVML with it, and forgets the back-off. The next reading starts a new one. */
  close(): void {
    this.backOffMs = 0;
    this.nextTryMs = 0;
    this.kill();
  }

  private kill(): void {
    const { child } = this;
    this.child = null;
    child?.kill('SIGKILL');
    this.settle(null);
  }

  private async ask(withProcesses: boolean): Promise<ChildAnswer | null> {
    const child = (this.child ??= this.start());
    const request: ReadRequest = { id: ++this.lastId, withProcesses };
    const timer = setTimeout(() => {
      this.log(`The NVIDIA driver has not answered for ${this.timeoutMs / 1000} s; the probe is restarted.`);
      this.fail(without('notAnswering', null));
    }, this.timeoutMs);
    const answer = await new Promise<ChildAnswer | null>((resolve) => {
      this.pending = { id: request.id, resolve };
      child.send(request, (error) => {
        if (error !== null) this.settle(null);
      });
    });
    clearTimeout(timer);
    return answer;
  }

  private start(): ChildProcess {
    const child = fork(this.script, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [] });
    child.on('message', (message) => {
      const answer = message as ChildAnswer;
      if (answer.id === this.pending?.id) this.settle(answer);
    });
    child.on('error', (error) => this.log(`The GPU probe: ${error.message}`));
    child.on('exit', (code, signal) => {
      if (this.child !== child) return;
      this.log(`The GPU probe ended (${signal ?? code}); it is restarted.`);
      this.child = null;
      this.fail(without('notAnswering', null));
    });
    return child;
  }

  /** The next try waits: 1 s, then twice as long each time, until one succeeds; until then `refusal` is the answer. */
  private fail(refusal: DriverReading): DriverReading {
    this.refusal = refusal;
    this.backOffMs = Math.min(Math.max(this.backOffMs * 2, shortestBackOffMs), longestBackOffMs);
    this.nextTryMs = Date.now() + this.backOffMs;
    this.kill();
    return refusal;
  }

  private settle(answer: ChildAnswer | null): void {
    const { pending } = this;
    this.pending = null;
    pending?.resolve(answer);
  }

  private reading(native: NativeReading): DriverReading {
    return {
      driver: { state: stateOf(native.code), version: known(native.version), code: native.code },
      devices: native.devices.map((device) => {
        const { processes } = device;
        return {
          ...device,
          parentUuid: null,
          processes: Array.isArray(processes) ? this.processes.describe(processes) : processes,
        };
      }),
    };
  }
}

function without(state: DriverState, code: number | null): DriverReading {
  return { driver: { state, version: null, code }, devices: [] };
}

function stateOf(code: number): DriverState {
  switch (code) {
    case 0:
      return 'ok';
    case driverNotLoaded:
    case libraryNotFound:
      return 'absent';
    case versionMismatch:
      return 'mismatch';
    default:
      return 'unknown';
  }
}
