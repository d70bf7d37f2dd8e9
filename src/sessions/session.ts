import path from 'node:path';
import type {
  FreeCacheResult,
  HelloResult,
  Lifecycle,
  LifecycleState,
  Sample,
  SessionDevice,
  Step,
} from '../shared/agentProtocol';
import type { SocketOrigin } from './socketName';
import { StepTrend, type Trend } from './stepTrend';

export type SessionExit = 'normal' | 'killed' | 'unknown';

/** Sums over a session's devices, bytes. */
export interface SessionSums {
  usedBytes: number;
  reservedBytes: number;
  releasableBytes: number;
  strandedBytes: number;
  pendingBytes: number;
}

/** One training process as its agent tells it. Holds what was heard; asks nothing itself. */
export class Session {
  /** Stable for the life of the process: PID and its start time. */
  readonly key: string;
  state: LifecycleState;
  step: number;
  /** When something was last heard; null while there is no connection. */
  heardMs: number;
  /** Nothing was heard since then though something was due; null while it answers. */
  silentSinceMs: number | null = null;
  exit: SessionExit | null = null;
  endedMs: number | null = null;
  freeing = false;
  freed: { timeMs: number; result: FreeCacheResult } | null = null;
  private readonly newest = new Map<number, Sample>();
  private readonly steps = new StepTrend();
  private sawEnd = false;

  constructor(
    readonly origin: SocketOrigin,
    private greeting: HelloResult,
    nowMs: number,
  ) {
    this.key = sessionKey(origin);
    this.state = greeting.state;
    this.step = greeting.step;
    this.heardMs = nowMs;
  }

  get hello(): HelloResult {
    return this.greeting;
  }

  get pid(): number {
    return this.greeting.pid;
  }

  get devices(): readonly SessionDevice[] {
    return this.greeting.devices;
  }

  /** The script's absolute path; null for `-c`, `-m name`, standard input. */
  get scriptPath(): string | null {
    const { script, cwd } = this.greeting;
    if (script === '' || script.startsWith('-') || script.startsWith('<')) return null;
    return path.resolve(cwd, script);
  }

  /** File name of the script, or what stands in its place. */
  get name(): string {
    const scriptPath = this.scriptPath;
    return scriptPath === null ? this.greeting.script : path.basename(scriptPath);
  }

  /** Newest sample per CUDA ordinal. */
  get samples(): ReadonlyMap<number, Sample> {
    return this.newest;
  }

  /** The same process greeted again (a new connection). */
  regreet(hello: HelloResult, nowMs: number): void {
    this.greeting = hello;
    this.state = hello.state;
    this.step = Math.max(this.step, hello.step);
    this.heard(nowMs);
  }

  addSample(sample: Sample, nowMs: number): void {
    this.newest.set(sample.device, sample);
    this.heard(nowMs);
  }

  addStep(step: Step, nowMs: number): void {
    this.step = step.step;
    this.steps.add(step);
    this.heard(nowMs);
  }

  addLifecycle(lifecycle: Lifecycle, nowMs: number): void {
    this.state = lifecycle.state;
    if (lifecycle.state === 'ended') this.sawEnd = true;
    this.heard(nowMs);
  }

  /** The process is gone. `seen`: its PID could be looked up from here, so that silence means it was killed. */
  end(nowMs: number, seen: boolean): void {
    this.exit = this.sawEnd ? 'normal' : seen ? 'killed' : 'unknown';
    this.state = 'ended';
    this.endedMs = nowMs;
    this.silentSinceMs = null;
    this.freeing = false;
  }

  stepsPerSecond(nowMs: number): number | null {
    return this.exit === null ? this.steps.stepsPerSecond(nowMs) : null;
  }

  /** Growth per step, and the steps until `limitBytes` is used up. */
  trend(limitBytes: number | null): Trend {
    return this.steps.trend(limitBytes);
  }

  /**
   * Used bytes at which the session's one device is full: stranded and pending memory cannot take new tensors
   * (design/panel.md section 2). Null with memory on several devices, and before the first sample.
   */
  limitBytes(): number | null {
    const holding = [...this.newest.values()].filter((sample) => sample.reservedBytes > 0);
    const [sample] = holding;
    if (sample === undefined || holding.length > 1) return null;
    const device = this.devices.find((one) => one.index === sample.device);
    return device === undefined ? null : device.totalBytes - sample.strandedBytes - sample.pendingBytes;
  }

  /** Sums over devices; zero once the process is gone, as its memory is. */
  sums(): SessionSums {
    const sums = { usedBytes: 0, reservedBytes: 0, releasableBytes: 0, strandedBytes: 0, pendingBytes: 0 };
    if (this.exit !== null) return sums;
    for (const sample of this.newest.values()) {
      for (const name of Object.keys(sums) as (keyof SessionSums)[]) sums[name] += sample[name];
    }
    return sums;
  }

  private heard(nowMs: number): void {
    this.heardMs = nowMs;
    this.silentSinceMs = null;
  }
}

export function sessionKey(origin: SocketOrigin): string {
  return `${origin.pidNamespace}-${origin.pid}-${origin.start}`;
}
