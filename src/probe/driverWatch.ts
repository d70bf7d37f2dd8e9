import type { DriverReading } from '../shared/driverReading';
import { known } from '../shared/driverReading';
import type { ProbeClient } from './probeClient';

/** Memory is asked once a second, the process lists (milliseconds per device) every other time. */
const periodMs = 1000;

/** Reads the driver while somebody looks. The next reading is scheduled after the last has finished, never on a clock. */
export class DriverWatch {
  /** The newest reading, its process lists possibly one reading older; null before the first. */
  newest: DriverReading | null = null;
  private timer: NodeJS.Timeout | null = null;
  /** Counts the starts: a reading that outlives its watch must not go on in the next one. Null: nobody looks. */
  private watching: number | null = null;
  private starts = 0;
  private round = 0;

  constructor(
    private readonly probe: Pick<ProbeClient, 'read' | 'close'>,
    private readonly changed: () => void,
  ) {}

  start(): void {
    if (this.watching !== null) return;
    this.watching = ++this.starts;
    void this.read(this.watching);
  }

  /** Nobody looks any more: the probe ends, and with it NVML, so that a card can be reset or sleep. */
  stop(): void {
    this.watching = null;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.probe.close();
  }

  private async read(watch: number): Promise<void> {
    const withProcesses = this.round++ % 2 === 0;
    const reading = await this.probe.read(withProcesses);
    if (this.watching !== watch) return;
    this.newest = withProcesses ? reading : this.withOldProcesses(reading);
    this.changed();
    this.timer = setTimeout(() => void this.read(watch), periodMs);
  }

  private withOldProcesses(reading: DriverReading): DriverReading {
    const old = new Map(this.newest?.devices.map((device) => [known(device.uuid), device.processes]));
    const devices = reading.devices.map((device) => ({
      ...device,
      processes: old.get(known(device.uuid)) ?? device.processes,
    }));
    return { ...reading, devices };
  }
}
