import type { Lifecycle, Sample, Step } from '../shared/agentProtocol';
import type { Session } from '../sessions/session';

/** The lines of `watch --format jsonl` (CLI.md fixes their words), `kind` first. */
export type WatchRecord = { kind: 'session' | 'sample' | 'step' | 'lifecycle' | 'end'; pid: number } & Record<
  string,
  unknown
>;

export function sessionRecord(session: Session): WatchRecord {
  const { script, startTimeMs, torch, simulated, rank, worldSize, devices } = session.hello;
  return {
    kind: 'session',
    pid: session.pid,
    script: session.scriptPath ?? script,
    startTimeMs,
    torch,
    simulated: simulated !== null,
    mode: simulated,
    rank,
    worldSize,
    devices: devices.map(({ index, uuid, name, totalBytes }) => ({ index, uuid, name, totalBytes })),
  };
}

export function sampleRecord(session: Session, sample: Sample): WatchRecord {
  return { kind: 'sample', pid: session.pid, ...sample, simulated: session.hello.simulated !== null };
}

export function stepRecord(session: Session, step: Step): WatchRecord {
  const { growthBytesPerStep, oomInSteps } = session.trend(session.limitBytes());
  const { timeMs, usedBytes } = step;
  return { kind: 'step', pid: session.pid, timeMs, step: step.step, usedBytes, growthBytesPerStep, oomInSteps };
}

export function lifecycleRecord(session: Session, lifecycle: Lifecycle): WatchRecord {
  return { kind: 'lifecycle', pid: session.pid, timeMs: lifecycle.timeMs, state: lifecycle.state };
}

export function endRecord(session: Session): WatchRecord {
  return { kind: 'end', pid: session.pid, timeMs: session.endedMs, exit: session.exit };
}
