/** From the host's state to what the page shows: rounding, choice of device, which page it is. Pure. */
import type { DeviceView, PanelState, ProcessView, SessionView } from '../../shared/panelProtocol';
import { showLedger, showSession, type ShownLedger, type ShownSession } from '../../shared/shownLedger';
import { scaleFor, toSteps, type Scale } from '../../shared/units';

export interface DevicePicture {
  view: DeviceView;
  shown: ShownLedger;
  sessions: SessionView[];
}

export interface SessionPicture {
  view: SessionView;
  shown: ShownSession;
  /** Steps of the scale; null where it cannot be told whose it is. */
  outside: number | null;
  /** Seconds without an answer; null while the agent answers. */
  silentS: number | null;
}

export interface ProcessPicture {
  view: ProcessView;
  device: DeviceView | null;
  /** Steps of the scale; null: the driver does not say. */
  memory: number | null;
}

export type EmptyKind = 'loading' | 'noSession' | 'noDriver' | 'noGpu' | 'mismatch' | 'notAnswering';

export interface Picture {
  timeMs: number;
  scale: Scale;
  devices: DevicePicture[];
  chosen: DevicePicture | null;
  sessions: SessionPicture[];
  processes: ProcessPicture[];
  /** What stands in for chart and sessions; null: there are sessions. */
  empty: EmptyKind | null;
  lookedFor: string[];
  driverSilent: boolean;
  /** All devices shown are simulated: nothing on the page was measured. */
  simulated: boolean;
}

/** The page for `state`; `wantedDevice` is the user's choice, kept while that device is there. */
export function makePicture(state: PanelState, wantedDevice: string | null): Picture {
  const views = shownDevices(state, wantedDevice);
  const scale = scaleFor(views.map((d) => d.ledger.totalBytes));
  const processes: ProcessPicture[] = [];
  const devices = views.map((view) => {
    const sessions = state.sessions.filter((s) => s.deviceKeys.includes(view.key));
    const alone = sessions.filter((s) => s.deviceKeys.length === 1);
    const others = state.processes.filter((p) => p.deviceKey === view.key);
    const shown = showLedger(
      view.ledger,
      alone,
      others.map((p) => p.usedBytes),
      scale,
    );
    others.forEach((process, i) => {
      processes.push({ view: process, device: view, memory: shown.processes[i] ?? null });
    });
    return { view, shown, sessions };
  });
  return {
    timeMs: state.timeMs,
    scale,
    devices,
    chosen: chooseDevice(devices, wantedDevice),
    sessions: runningFirst(state.sessions).map((view) => ({
      view,
      shown: showSession(view, scale),
      outside: outsideOf(view, devices, scale),
      silentS: view.silentSinceMs === null ? null : Math.max(0, Math.round((state.timeMs - view.silentSinceMs) / 1000)),
    })),
    processes,
    empty: emptyKind(state),
    lookedFor: state.driver.lookedFor,
    driverSilent: state.driver.state === 'notAnswering',
    simulated: devices.length > 0 && devices.every((d) => d.view.simulated),
  };
}

/**
 * The devices worth a row. A simulated one ends with its session; it stays to be looked at while it is the user's
 * choice, or until something else runs.
 */
function shownDevices(state: PanelState, wanted: string | null): DeviceView[] {
  const live = new Set(state.sessions.filter((s) => s.state !== 'ended').flatMap((s) => s.deviceKeys));
  if (live.size === 0) return state.devices;
  return state.devices.filter(({ key, simulated }) => !simulated || live.has(key) || key === wanted);
}

function runningFirst(sessions: readonly SessionView[]): SessionView[] {
  const ended = (session: SessionView) => session.state === 'ended';
  return [...sessions.filter((session) => !ended(session)), ...sessions.filter(ended)];
}

/** The user's device; else the first one with a running session, then with an ended one; else the first. */
function chooseDevice(devices: DevicePicture[], wanted: string | null): DevicePicture | null {
  return (
    devices.find((d) => d.view.key === wanted) ??
    devices.find((d) => d.sessions.some((session) => session.state !== 'ended')) ??
    devices.find((d) => d.sessions.length > 0) ??
    devices[0] ??
    null
  );
}

/** Outside PyTorch is known per device; it is a session's own where that session has its devices to itself. */
function outsideOf(session: SessionView, devices: DevicePicture[], scale: Scale): number | null {
  let bytes = 0;
  for (const key of session.deviceKeys) {
    const device = devices.find((d) => d.view.key === key);
    const outside = device?.view.ledger.outside ?? null;
    if (device === undefined || device.sessions.length !== 1 || outside === null) return null;
    bytes += outside;
  }
  return toSteps(bytes, scale);
}

function emptyKind(state: PanelState): EmptyKind | null {
  if (state.sessions.length > 0) return null;
  switch (state.driver.state) {
    case 'absent':
      return state.devices.length > 0 ? 'noSession' : 'noDriver';
    case 'mismatch':
      return 'mismatch';
    case 'notAnswering':
      return 'notAnswering';
    case 'ok':
      return state.devices.length > 0 ? 'noSession' : 'noGpu';
    case 'unknown':
      return state.devices.length > 0 ? 'noSession' : 'loading';
  }
}
