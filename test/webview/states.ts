/** Messages as the extension host would send them, for each state of design/panel.md section 8. */
import type { FreeCacheResult } from '../../src/shared/agentProtocol';
import type { Ledger } from '../../src/shared/ledger';
import type { DeviceView, PanelState, ProcessView, SessionView } from '../../src/shared/panelProtocol';
import { GiB, MiB } from '../../src/shared/units';

/** The page's time in every test: 2026-11-30 12:04:31 UTC. */
export const nowMs = Date.UTC(2026, 10, 30, 12, 4, 31);

const desk: [string, number, string, number][] = [
  ['ollama', 2210, 'maya', 862],
  ['firefox', 3122, 'maya', 188],
  ['gnome-shell', 2871, 'maya', 96],
  ['Xorg', 2604, 'root', 64],
];

/** Other programs on the device, in MiB. */
export function processes(deviceKey: string): ProcessView[] {
  return desk.map(([name, pid, user, mib]) => ({ name, pid, user, deviceKey, usedBytes: mib * MiB }));
}

/** A device whose free memory is what the other parts leave. */
export function device(
  view: Omit<Partial<DeviceView>, 'ledger'> & { ledger: Partial<Ledger> & { totalBytes: number } },
): DeviceView {
  const parts = { used: 0, pending: 0, stranded: 0, releasable: 0, outside: 0, others: 0, unattributed: 0 };
  const ledger: Ledger = { ...parts, driverReserved: 0, free: 0, ...view.ledger };
  if (view.ledger.free === undefined) {
    const { totalBytes, ...taken } = ledger;
    ledger.free = totalBytes - Object.values(taken).reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
  }
  return {
    key: 'GPU-0',
    index: 0,
    name: 'NVIDIA GeForce RTX 4090',
    simulated: false,
    peakUsedBytes: null,
    peakReservedBytes: null,
    ...view,
    ledger,
  };
}

export function session(view: Partial<SessionView>): SessionView {
  return {
    key: 's1',
    pid: 48213,
    name: 'train.py',
    scriptPath: '/home/maya/project/train.py',
    simulated: null,
    rank: null,
    worldSize: null,
    state: 'training',
    silentSinceMs: null,
    startTimeMs: nowMs - 2_500_000,
    step: 12_480,
    stepsPerSecond: 1.42,
    usedBytes: 15053 * MiB,
    reservedBytes: (15053 + 18 + 1219 + 2674) * MiB,
    releasableBytes: 2674 * MiB,
    strandedBytes: 1219 * MiB,
    deviceKeys: ['GPU-0'],
    freed: null,
    freeing: false,
    ...view,
  };
}

const rtx4090 = { totalBytes: 24564 * MiB, driverReserved: 347 * MiB, unattributed: 26 * MiB, others: 1210 * MiB };
const held = { used: 15053 * MiB, pending: 18 * MiB, stranded: 1219 * MiB, outside: 542 * MiB };
const peaks = { peakUsedBytes: 15311 * MiB, peakReservedBytes: 18964 * MiB };
const ok = { state: 'ok', lookedFor: [] } as const;

function state(part: Partial<PanelState>): PanelState {
  return { timeMs: nowMs, devices: [], sessions: [], processes: [], driver: { ...ok, lookedFor: [] }, ...part };
}

export function training(): PanelState {
  return state({
    devices: [device({ ...peaks, ledger: { ...rtx4090, ...held, releasable: 2674 * MiB } })],
    sessions: [session({})],
    processes: processes('GPU-0'),
  });
}

export function simulated(): PanelState {
  const parts = { used: 33180 * MiB, pending: 40 * MiB, stranded: 2210 * MiB, releasable: 6220 * MiB };
  return state({
    devices: [
      device({
        key: 'SIM-0',
        name: 'NVIDIA A100-SXM4-80GB',
        simulated: true,
        peakUsedBytes: 38444 * MiB,
        peakReservedBytes: 41650 * MiB,
        ledger: { totalBytes: 80 * GiB, ...parts },
      }),
    ],
    sessions: [
      session({
        pid: 51877,
        simulated: 'exact',
        step: 61,
        stepsPerSecond: 0.31,
        usedBytes: parts.used,
        reservedBytes: 41650 * MiB,
        releasableBytes: parts.releasable,
        strandedBytes: parts.stranded,
        deviceKeys: ['SIM-0'],
      }),
    ],
    driver: { state: 'absent', lookedFor: ['libnvidia-ml.so.1'] },
  });
}

export function noSession(): PanelState {
  return state({ devices: [device({ ledger: { ...rtx4090, unattributed: 9 * MiB } })], processes: processes('GPU-0') });
}

export function noDriver(): PanelState {
  return state({ driver: { state: 'absent', lookedFor: ['libnvidia-ml.so.1', '/usr/lib/wsl/lib/libnvidia-ml.so.1'] } });
}

export function freed(result: FreeCacheResult = freedResult(2674)): PanelState {
  return state({
    devices: [device({ ...peaks, ledger: { ...rtx4090, ...held } })],
    sessions: [
      session({
        releasableBytes: 0,
        reservedBytes: (15053 + 18 + 1219) * MiB,
        freed: { timeMs: nowMs - 14_000, result },
      }),
    ],
    processes: processes('GPU-0'),
  });
}

export function freedResult(returnedMib: number): FreeCacheResult {
  return {
    done: true,
    where: 'afterStep',
    collected: true,
    devices: [
      {
        index: 0,
        reservedBeforeBytes: (16290 + returnedMib) * MiB,
        reservedAfterBytes: 16290 * MiB,
        returnedBytes: returnedMib * MiB,
        strandedBytes: 1219 * MiB,
        usedBytes: 15053 * MiB,
      },
    ],
  };
}

/** Two devices, each with a rank, the second with somebody else's process. */
export function ranks(): PanelState {
  const parts = {
    used: 24310 * MiB,
    pending: 6 * MiB,
    stranded: 702 * MiB,
    releasable: 2910 * MiB,
    outside: 518 * MiB,
  };
  const base = { totalBytes: 80 * GiB, driverReserved: 642 * MiB, unattributed: 14 * MiB };
  const rank = (index: number) =>
    session({
      key: `r${index}`,
      name: 'rl_train.py',
      pid: 71904 + index,
      rank: index,
      worldSize: 2,
      usedBytes: parts.used,
      reservedBytes: (24310 + 6 + 702 + 2910) * MiB,
      releasableBytes: parts.releasable,
      strandedBytes: parts.stranded,
      deviceKeys: [`GPU-${index}`],
    });
  return state({
    devices: [0, 1].map((index) =>
      device({
        key: `GPU-${index}`,
        index,
        name: 'NVIDIA A100-SXM4-80GB',
        ledger: { ...base, ...parts, others: index * 5214 * MiB },
      }),
    ),
    sessions: [rank(0), rank(1)],
    processes: [{ name: 'python eval.py', pid: 80133, user: 'lchen', deviceKey: 'GPU-1', usedBytes: 5214 * MiB }],
  });
}

/** A session on a machine whose driver does not answer: what PyTorch does not know is not known. */
export function driverSilent(): PanelState {
  const unknown = { free: null, outside: null, others: null, unattributed: null, driverReserved: null };
  return state({
    devices: [device({ ledger: { totalBytes: 24564 * MiB, ...held, releasable: 2674 * MiB, ...unknown } })],
    sessions: [session({ silentSinceMs: nowMs - 8_000, stepsPerSecond: null })],
    driver: { state: 'notAnswering', lookedFor: [] },
  });
}

/** Columns of ten minutes of a run, one sample a second, as plain arrays for the way into the browser. */
export function tenMinutes(view: PanelState): Record<'timeMs' | 'usedBytes' | 'reservedBytes' | 'step', number[]> {
  const deviceView = view.devices[0];
  const columns = {
    timeMs: [] as number[],
    usedBytes: [] as number[],
    reservedBytes: [] as number[],
    step: [] as number[],
  };
  if (!deviceView) return columns;
  const { used, pending, stranded, releasable } = deviceView.ledger;
  const reservedNow = (used ?? 0) + (pending ?? 0) + (stranded ?? 0) + (releasable ?? 0);
  const begin = deviceView.simulated ? -190 : -600;
  for (let s = begin; s <= 0; s++) {
    const gap = !deviceView.simulated && s > -348 && s < -339;
    const freedAt = view.sessions[0]?.freed ? -14 : 1;
    const grown = s < -192 ? 0.68 : 0.68 + (0.32 * (s + 192)) / 192;
    const level = deviceView.simulated ? (s < -176 ? 0.55 : 0.94 + 0.06 * Math.abs(Math.sin(s / 6.5))) : grown;
    const usedBytes = s === 0 ? (used ?? 0) : (used ?? 0) * level;
    const peak = s >= freedAt ? reservedNow : freedAt < 1 ? 18964 * MiB : reservedNow;
    const held =
      s < -196
        ? 13900 * MiB
        : Math.min(peak, Math.max(13900 * MiB, Math.ceil((usedBytes * 1.25) / (512 * MiB)) * 512 * MiB));
    columns.timeMs.push(nowMs + s * 1000);
    columns.usedBytes.push(gap ? NaN : usedBytes);
    columns.reservedBytes.push(
      gap
        ? NaN
        : deviceView.simulated
          ? s < -172
            ? 36000 * MiB
            : reservedNow
          : s >= freedAt || s === 0
            ? reservedNow
            : Math.max(held, usedBytes),
    );
    columns.step.push(
      gap ? NaN : Math.floor((view.sessions[0]?.step ?? 0) + s * (view.sessions[0]?.stepsPerSecond ?? 0)),
    );
  }
  return columns;
}
