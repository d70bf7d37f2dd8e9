import type { Sample } from '../shared/agentProtocol';
import type { Session } from '../sessions/session';
import type { SessionHub } from '../sessions/sessionHub';

/** Highest figures of the sessions a hub sees, per session summed over its devices. */
export class PeakWatch {
  peakUsedBytes = 0;
  peakReservedBytes = 0;
  steps = 0;
  simulated = false;
  private readonly seen = new Set<string>();

  constructor(hub: SessionHub) {
    hub.onSession.on((session) => {
      this.seen.add(session.key);
      this.simulated ||= session.hello.simulated !== null;
      this.steps = Math.max(this.steps, session.step);
    });
    hub.onSample.on(({ session }) => {
      this.peakUsedBytes = Math.max(this.peakUsedBytes, sum(session, 'peakUsedBytes'));
      this.peakReservedBytes = Math.max(this.peakReservedBytes, sum(session, 'peakReservedBytes'));
    });
    hub.onStep.on(({ step }) => {
      this.steps = Math.max(this.steps, step.step);
    });
  }

  get sessions(): number {
    return this.seen.size;
  }
}

function sum(session: Session, name: keyof Pick<Sample, 'peakUsedBytes' | 'peakReservedBytes'>): number {
  return [...session.samples.values()].reduce((total, sample) => total + sample[name], 0);
}
