import type { SessionDevice } from '../shared/agentProtocol';
import { bareUuid, known, type DriverDevice, type DriverReading } from '../shared/driverReading';
import { allocatorLedger, driverLedger, simulatedLedger, type DriverFigures, type Holding } from '../shared/ledger';
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
  return device.uuid === null ? `${session.key}/${device.index}` : bareUuid(device.uuid);
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

  /**
   * The driver's devices in its order, then those that only sessions know (simulated, or without a driver's view) in
   * order of first sight. Those whose last session has left the list are dropped.
   */
  views(reading: DriverReading | null): DeviceView[] {
    const keys = new Set(this.hub.sessions.flatMap((session) => session.devices.map((one) => deviceKey(session, one))));
    for (const key of this.records.keys()) if (!keys.has(key)) this.records.delete(key);
    const views = (reading?.devices ?? []).flatMap((device, index) => this.driverView(device, index));
    const shown = new Set(views.map((view) => view.key));
    for (const record of this.records.values()) if (!shown.has(record.key)) views.push(this.sessionView(record));
    return views;
  }

  /** A device the driver names, with or without sessions; none while it cannot even say which one it is. */
  private driverView(device: DriverDevice, index: number): DeviceView[] {
    const uuid = known(device.uuid);
    if (uuid === null) return [];
    const key = bareUuid(uuid);
    const figures = driverFigures(device);
    const record = this.records.get(key);
    const total = known(device.totalBytes) ?? record?.device.totalBytes ?? 0;
    const holdings = this.holdings(key);
    return [
      {
        key,
        index,
        name: known(device.name) ?? record?.device.name ?? uuid,
        simulated: false,
        ledger: figures === null ? allocatorLedger(total, holdings) : driverLedger(figures, holdings),
        ...peaksOf(record),
      },
    ];
  }

  private sessionView(record: DeviceRecord): DeviceView {
    const holdings = this.holdings(record.key);
    const total = record.device.totalBytes;
    return {
      key: record.key,
      index: record.device.index,
      name: record.device.name,
      simulated: record.simulated,
      ledger: record.simulated ? simulatedLedger(total, holdings) : allocatorLedger(total, holdings),
      ...peaksOf(record),
    };
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

function peaksOf(record: DeviceRecord | undefined): Pick<DeviceView, 'peakUsedBytes' | 'peakReservedBytes'> {
  if (record === undefined || record.timeline.length === 0) return { peakUsedBytes: null, peakReservedBytes: null };
  return { peakUsedBytes: record.peakUsedBytes, peakReservedBytes: record.peakReservedBytes };
}

/** What the ledger needs of the driver; null where it does not even give total and free. */
function driverFigures(device: DriverDevice): DriverFigures | null {
  const totalBytes = known(device.totalBytes);
  const freeBytes = known(device.freeBytes);
  if (totalBytes === null || freeBytes === null) return null;
  const processes = known(device.processes);
  return {
    totalBytes,
    freeBytes,
    driverReservedBytes: known(device.driverReservedBytes),
    // With a figure for none of them, nothing can be attributed (Windows, WSL).
    processes: processes?.map(({ pid, usedBytes }) => ({ pid, usedBytes: known(usedBytes) })) ?? null,
  };
}
