import type { SessionDevice } from '../shared/agentProtocol';
import { allocatorLedger, simulatedLedger, type Holding } from '../shared/ledger';
import type { DeviceView } from '../shared/panelProtocol';
import type { Disposable } from './emitter';
import type { Session } from './session';
import type { SessionHub } from './sessionHub';
import { Timeline } from './timeline';

/** Longer without a sample is a gap in the curve, not a line. */
const gapMs = 3000;

interface DeviceRecord {
  key: string;
  device: SessionDevice;
  simulated: boolean;
  timeline: Timeline;
  /** Highest sums seen over sessions that shared the device at one time. */
  peakUsedBytes: number;
  peakReservedBytes: number;
}

/** Identity of a device: its UUID; where torch does not say one, the session's own ordinal. */
export function deviceKey(session: Session, device: SessionDevice): string {
  return device.uuid ?? `${session.key}/${device.index}`;
}

/** The devices sessions run on, each with its history; sums where sessions share one. */
export class DeviceBoard {
  private readonly records = new Map<string, DeviceRecord>();
  private readonly subscriptions: Disposable[];

  constructor(private readonly hub: SessionHub) {
    this.subscriptions = [
      hub.onSession.on((session) => session.devices.forEach((device) => this.record(session, device))),
      hub.onSample.on(({ session, sample }) => {
        const device = session.devices.find((one) => one.index === sample.device);
        if (device !== undefined) this.append(this.record(session, device), sample.timeMs);
      }),
      hub.onEnd.on((session) => {
        // Its memory is gone: the curve says so.
        for (const device of session.devices) this.append(this.record(session, device), Date.now());
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  timeline(key: string): Timeline | null {
    return this.records.get(key)?.timeline ?? null;
  }

  /** The devices in order of first sight; those whose last session has left the list are dropped. */
  views(): DeviceView[] {
    const keys = new Set(this.hub.sessions.flatMap((session) => session.devices.map((one) => deviceKey(session, one))));
    for (const key of this.records.keys()) if (!keys.has(key)) this.records.delete(key);
    return [...this.records.values()].map((record) => {
      const holdings = this.holdings(record.key);
      const total = record.device.totalBytes;
      const heard = record.timeline.length > 0;
      return {
        key: record.key,
        index: record.device.index,
        name: record.device.name,
        simulated: record.simulated,
        ledger: record.simulated ? simulatedLedger(total, holdings) : allocatorLedger(total, holdings),
        peakUsedBytes: heard ? record.peakUsedBytes : null,
        peakReservedBytes: heard ? record.peakReservedBytes : null,
      };
    });
  }

  private record(session: Session, device: SessionDevice): DeviceRecord {
    const key = deviceKey(session, device);
    let record = this.records.get(key);
    if (record === undefined) {
      const simulated = session.hello.simulated !== null;
      record = { key, device, simulated, timeline: new Timeline(), peakUsedBytes: 0, peakReservedBytes: 0 };
      this.records.set(key, record);
    }
    return record;
  }

  private append(record: DeviceRecord, timeMs: number): void {
    const holdings = this.holdings(record.key);
    const used = holdings.reduce((sum, holding) => sum + holding.usedBytes, 0);
    const reserved = holdings.reduce((sum, holding) => sum + holding.reservedBytes, 0);
    const newest = record.timeline.newestMs;
    if (newest !== null && timeMs - newest > gapMs) record.timeline.append(newest + 1, NaN, NaN, NaN);
    record.timeline.append(timeMs, used, reserved, this.step(record.key));
    record.peakUsedBytes = Math.max(record.peakUsedBytes, used, ...this.peaks(record.key, 'peakUsedBytes'));
    record.peakReservedBytes = Math.max(
      record.peakReservedBytes,
      reserved,
      ...this.peaks(record.key, 'peakReservedBytes'),
    );
  }

  /** Live sessions on the device, with the newest sample each. */
  private *on(key: string): Generator<{ session: Session; device: SessionDevice }> {
    for (const session of this.hub.sessions) {
      if (session.exit !== null) continue;
      for (const device of session.devices) if (deviceKey(session, device) === key) yield { session, device };
    }
  }

  private holdings(key: string): Holding[] {
    const holdings: Holding[] = [];
    for (const { session, device } of this.on(key)) {
      const sample = session.samples.get(device.index);
      if (sample !== undefined) holdings.push({ pid: session.pid, ...sample });
    }
    return holdings;
  }

  /** The allocator's own peaks: it sees what falls between two samples. */
  private peaks(key: string, name: 'peakUsedBytes' | 'peakReservedBytes'): number[] {
    return [...this.on(key)].map(({ session, device }) => session.samples.get(device.index)?.[name] ?? 0);
  }

  private step(key: string): number {
    const steps = [...this.on(key)].map(({ session }) => session.step).filter((step) => step > 0);
    return steps.length === 0 ? NaN : Math.max(...steps);
  }
}
