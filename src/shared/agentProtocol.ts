/**
 * What the agent inside a training process says and answers: JSON-RPC 2.0 with Content-Length framing over its
 * socket. The agent's own side is `src/agent/vram_lens_agent/protocol.py`; both carry `protocolVersion`.
 * Sizes are integers in bytes, times milliseconds since 1970; what is not known is null, never 0 or -1.
 */
export const protocolVersion = 1;

export type SimulationMode = 'exact' | 'approximate' | 'estimate';

export interface SessionDevice {
  /** The CUDA ordinal inside the session. */
  index: number;
  /** Null where the installed torch does not say it. A simulated device's begins with `SIM-`. */
  uuid: string | null;
  name: string;
  totalBytes: number;
}

export const lifecycleStates = [
  'started',
  'modelOnGpu',
  'dataOnGpu',
  'training',
  'idle',
  'cleared',
  'freed',
  'ended',
] as const;
export type LifecycleState = (typeof lifecycleStates)[number];

export interface HelloParams {
  protocol: number;
  client: string;
}

export interface HelloResult {
  protocol: number;
  agent: string;
  pid: number;
  /** Path of the script as the process was started with it; `-c` or `-m name` where there is no file. */
  script: string;
  /** Working directory at start, to resolve `script`. */
  cwd: string;
  startTimeMs: number;
  python: string;
  torch: string;
  simulated: SimulationMode | null;
  rank: number | null;
  worldSize: number | null;
  devices: SessionDevice[];
  state: LifecycleState;
  step: number;
}

export interface SubscribeParams {
  /** Samples per second wanted, 0.2 to 10. */
  hz: number;
}
export interface SubscribeResult {
  hz: number;
}

/** Notification `sample`: one device at one moment. */
export interface Sample {
  timeMs: number;
  device: number;
  usedBytes: number;
  reservedBytes: number;
  activeBytes: number;
  strandedBytes: number;
  releasableBytes: number;
  pendingBytes: number;
  requestedBytes: number | null;
  peakUsedBytes: number;
  peakReservedBytes: number;
  retries: number;
  ooms: number;
}

/** Notification `step`: the newest finished step; thinned when steps are faster than the sampling rate. */
export interface Step {
  timeMs: number;
  step: number;
  /** Bytes of live tensors over all of the session's devices when the step ended. */
  usedBytes: number;
}

/** Notification `lifecycle`. */
export interface Lifecycle {
  timeMs: number;
  state: LifecycleState;
}

export interface FreeCacheParams {
  /** From the `.token` file beside the socket. */
  token: string;
}

export interface FreedDevice {
  index: number;
  reservedBeforeBytes: number;
  reservedAfterBytes: number;
  returnedBytes: number;
  strandedBytes: number;
  usedBytes: number;
}

export type FreeCacheResult =
  | { done: true; where: 'afterStep' | 'idle'; collected: boolean; devices: FreedDevice[] }
  | { done: false; reason: 'capture' | 'memPool' | 'notTorch' | 'noAnswer' | 'failed'; message: string };

/** JSON-RPC error codes of our own (the rest are the standard's). */
export const errorCodes = { badToken: -32001 } as const;
