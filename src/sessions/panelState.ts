import { bareUuid, known, type DriverReading } from '../shared/driverReading';
import type { DriverView, PanelState, ProcessView, SessionView } from '../shared/panelProtocol';
import { deviceKey, type DeviceBoard } from './deviceBoard';
import type { Session } from './session';

/** The whole picture of one moment, as the panel wants it. */
export function panelState(
  sessions: readonly Session[],
  board: DeviceBoard,
  driver: DriverView,
  reading: DriverReading | null,
  nowMs: number,
): PanelState {
  return {
    timeMs: nowMs,
    devices: board.views(reading),
    sessions: sessions.map((session) => sessionView(session, nowMs)),
    processes: otherProcesses(sessions, reading),
    driver,
  };
}

/** Processes on the driver's devices that are no session. */
function otherProcesses(sessions: readonly Session[], reading: DriverReading | null): ProcessView[] {
  const own = new Set(sessions.filter((session) => session.exit === null).map((session) => session.pid));
  return (reading?.devices ?? []).flatMap((device) => {
    const uuid = known(device.uuid);
    if (uuid === null) return [];
    return (known(device.processes) ?? [])
      .filter((process) => !own.has(process.pid))
      .map(({ pid, name, user, usedBytes }) => ({
        ...{ pid, name, user, deviceKey: bareUuid(uuid) },
        usedBytes: known(usedBytes),
      }));
  });
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
