/** Messages between the extension host and the panel's page. The host holds the truth; the page draws it. */
import type { LifecycleState, SimulationMode, FreeCacheResult } from './agentProtocol';
import type { DriverState } from './driverReading';
import type { Ledger } from './ledger';
import type { PanelStrings } from './panelStrings';

export interface DeviceView {
  /** UUID; identity of the device. */
  key: string;
  index: number;
  name: string;
  simulated: boolean;
  ledger: Ledger;
  peakUsedBytes: number | null;
  peakReservedBytes: number | null;
}

export interface SessionView {
  /** Stable for the life of the session. */
  key: string;
  pid: number;
  /** File name of the script. */
  name: string;
  /** Absolute path, where it is a file. */
  scriptPath: string | null;
  simulated: SimulationMode | null;
  rank: number | null;
  worldSize: number | null;
  state: LifecycleState;
  /** The agent has not answered since then; null while it answers. */
  silentSinceMs: number | null;
  startTimeMs: number;
  step: number;
  stepsPerSecond: number | null;
  /** Sums over the session's devices. */
  usedBytes: number;
  reservedBytes: number;
  releasableBytes: number;
  strandedBytes: number;
  deviceKeys: string[];
  /** Answer to the last Free GPU Cache, until dismissed or replaced. */
  freed: { timeMs: number; result: FreeCacheResult } | null;
  freeing: boolean;
}

export interface ProcessView {
  pid: number;
  name: string | null;
  user: string | null;
  deviceKey: string;
  usedBytes: number | null;
}

export interface DriverView {
  state: DriverState;
  /** Where we looked, for the "no driver" page. */
  lookedFor: string[];
}

/** The whole picture without history; small, sent at most ten times a second. */
export interface PanelState {
  timeMs: number;
  devices: DeviceView[];
  sessions: SessionView[];
  processes: ProcessView[];
  driver: DriverView;
}

/** A device's history in columns of equal length, oldest first; NaN is a gap. */
export interface HistoryColumns {
  timeMs: Float64Array;
  usedBytes: Float64Array;
  reservedBytes: Float64Array;
  /** Newest finished step of the device's sessions at that moment; NaN without steps. */
  step: Float64Array;
}

export type ToPanel =
  | { type: 'hydrate'; locale: string; strings: PanelStrings; state: PanelState }
  | { type: 'state'; state: PanelState }
  /** Replaces the device's history in the page. */
  | { type: 'history'; deviceKey: string; spanS: number | null; columns: HistoryColumns }
  /** Appends to the device's history in the page. */
  | { type: 'append'; deviceKey: string; columns: HistoryColumns };

export type FromPanel =
  | { type: 'ready' }
  /** The page shows this device over this span; null: everything. Answered by `history`, then `append`s. */
  | { type: 'watch'; deviceKey: string; spanS: number | null }
  | { type: 'freeCache'; sessionKey: string }
  | { type: 'dismissFreed'; sessionKey: string }
  | { type: 'openScript'; sessionKey: string }
  | { type: 'runWithAgent' }
  | { type: 'runSimulated' }
  | { type: 'checkDriver' }
  | { type: 'showLog' };

/** Whether `message` from the page is one of ours; the page is not trusted to send well-formed messages. */
export function isFromPanel(message: unknown): message is FromPanel {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false;
  const m = message as Record<string, unknown>;
  switch (m['type']) {
    case 'ready':
    case 'runWithAgent':
    case 'runSimulated':
    case 'checkDriver':
    case 'showLog':
      return true;
    case 'watch':
      return typeof m['deviceKey'] === 'string' && (m['spanS'] === null || typeof m['spanS'] === 'number');
    case 'freeCache':
    case 'dismissFreed':
    case 'openScript':
      return typeof m['sessionKey'] === 'string';
    default:
      return false;
  }
}
