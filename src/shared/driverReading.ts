/** The driver's view of devices and processes, as the probe reads it and `vram-lens devices` prints it (CLI.md). */

/** Why the driver gives no figure. */
export interface Absent {
  absent: 'notSupported' | 'noPermission' | 'gpuLost' | 'unknown';
}
export type Known<T> = T | Absent;

export const driverStates = ['ok', 'absent', 'mismatch', 'notAnswering', 'unknown'] as const;
export type DriverState = (typeof driverStates)[number];

export interface DriverProcess {
  /** As the driver counts PIDs. */
  pid: number;
  user: string | null;
  name: string | null;
  command: string | null;
  /** Bytes. */
  usedBytes: Known<number>;
  /** The driver still counts memory for a PID that no longer exists here. */
  gone: boolean;
}

/** Sizes in bytes. */
export interface DriverDevice {
  uuid: Known<string>;
  name: Known<string>;
  /** Of a MIG instance: its card's UUID. */
  parentUuid: string | null;
  totalBytes: Known<number>;
  /** Without what the driver keeps for itself where `driverReservedBytes` is known; including it where it is absent. */
  usedBytes: Known<number>;
  freeBytes: Known<number>;
  driverReservedBytes: Known<number>;
  processes: Known<DriverProcess[]>;
}

export interface DriverReading {
  driver: { state: DriverState; version: string | null; /** NVML's code, where it said one. */ code: number | null };
  devices: DriverDevice[];
}

export function known<T>(field: Known<T>): T | null {
  return typeof field === 'object' && field !== null && 'absent' in field ? null : field;
}

/** NVML writes `GPU-…`, torch the same without it; the part behind identifies the device for both. */
export function bareUuid(uuid: string): string {
  return uuid.replace(/^GPU-/, '');
}
