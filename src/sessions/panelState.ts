import type { DriverView, PanelState, SessionView } from '../shared/panelProtocol';
import { deviceKey, type DeviceBoard } from './deviceBoard';
import type { Session } from './session';

/** The whole picture of one moment, as the panel wants it. */
export function panelState(
  sessions: readonly Session[],
  board: DeviceBoard,
  driver: DriverView,
  nowMs: number,
): PanelState {
  return {
    timeMs: nowMs,
    devices: board.views(),
    sessions: sessions.map((session) => sessionView(session, nowMs)),
    processes: [],
    driver,
  };
}

function sessionView(session: Session, nowMs: number): SessionView {
  const { usedBytes, reservedBytes, releasableBytes, strandedBytes } = session.sums();
  return {
    key: session.key,
    pid: session.pid,
    name: session.name,
    scriptPath: session.scriptPath,
    simulated: session.hello.simulated,
    rank: session.hello.rank,
    worldSize: session.hello.worldSize,
    state: session.state,
    silentSinceMs: session.silentSinceMs,
    startTimeMs: session.hello.startTimeMs,
    step: session.step,
    stepsPerSecond: session.stepsPerSecond(nowMs),
    usedBytes,
    reservedBytes,
    releasableBytes,
    strandedBytes,
    deviceKeys: session.devices.map((device) => deviceKey(session, device)),
    freed: session.freed,
    freeing: session.freeing,
  };
}
