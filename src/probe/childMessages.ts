/** What the probe's child process and its client say to each other over Node's IPC channel. */
import type { Absent, Known } from '../shared/driverReading';

export interface ReadRequest {
  id: number;
  /** The process lists cost milliseconds per device; memory alone does not. */
  withProcesses: boolean;
}

/** As the addon answers (native/addon.cc). */
export interface NativeReading {
  /** NVML's return code for the driver as a whole. */
  code: number;
  version: Known<string>;
  devices: {
    uuid: Known<string>;
    name: Known<string>;
    totalBytes: Known<number>;
    usedBytes: Known<number>;
    freeBytes: Known<number>;
    driverReservedBytes: Known<number>;
    processes: Known<{ pid: number; usedBytes: number | Absent }[]>;
  }[];
}

export type ChildAnswer =
  | { id: number; reading: NativeReading }
  /** The addon is missing or does not load on this platform. */
  | { id: number; failure: string };
