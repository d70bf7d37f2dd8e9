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
  private watching = false;
  private round = 0;

  constructor(
    private readonly probe: ProbeClient,
    private readonly changed: () => void,
  ) {}

  start(): void {
    if (this.watching) return;
    this.watching = true;
    void this.read();
  }

  /** Nobody looks any more: the probe ends, and with it NVML, so that a card can be reset or sleep. */
  stop(): void {
    this.watching = false;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.probe.close();
  }

  private async read(): Promise<void> {
    const withProcesses = this.round++ % 2 === 0;
    const reading = await this.probe.read(withProcesses);
    if (!this.watching) return;
    this.newest = withProcesses ? reading : this.withOldProcesses(reading);
    this.changed();
    this.timer = setTimeout(() => void this.read(), periodMs);
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
