/**
 * What is shown adds up too (design/panel.md section 5): every leaf is rounded once, everything above a leaf is
 * addition of shown numbers, and *free* takes what is left. All results are whole steps of the page's scale.
 */
import type { Ledger } from './ledger';
import { toSteps, type Scale } from './units';

export interface SessionLeaf {
  usedBytes: number;
  reservedBytes: number;
  releasableBytes: number;
}

export interface ShownSession {
  used: number;
  reserved: number;
  cached: number;
  releasable: number;
}

/** One device's ledger in steps of the scale; null: not known. */
export interface ShownLedger {
  total: number;
  reserved: number | null;
  cached: number | null;
  used: number | null;
  pending: number | null;
  stranded: number | null;
  releasable: number | null;
  free: number | null;
  outside: number | null;
  others: number | null;
  unattributed: number | null;
  driverReserved: number | null;
  /** Outside, other processes, unattributed and driver reserved: what PyTorch cannot have. */
  unavailable: number | null;
  /** The processes handed in, in their order; null where the driver does not say. */
  processes: (number | null)[];
}

/** Sum of the parts, or null when one of them is not known. */
export function sumKnown(parts: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const part of parts) {
    if (part === null) return null;
    sum += part;
  }
  return sum;
}

/** A session's row: its own leaves, rounded once. */
export function showSession(session: SessionLeaf, scale: Scale): ShownSession {
  const used = toSteps(session.usedBytes, scale);
  const reserved = toSteps(session.reservedBytes, scale);
  const cached = reserved - used;
  return { used, reserved, cached, releasable: Math.min(cached, toSteps(session.releasableBytes, scale)) };
}

/**
 * Rounds one device's ledger. `sessions` are those that live on this device alone: when they make up the whole of
 * the device's used and reserved memory, the device's figures are the sums of their rows. `processBytes` are the
 * rows of the other processes, in the same way.
 */
export function showLedger(
  ledger: Ledger,
  sessions: readonly SessionLeaf[],
  processBytes: readonly (number | null)[],
  scale: Scale,
): ShownLedger {
  const step = (bytes: number | null) => (bytes === null ? null : toSteps(bytes, scale));
  const torch = showTorch(ledger, sessions, scale);
  const processes = processBytes.map(step);
  const rowsAreComplete = processBytes.length > 0 && sumKnown(processBytes) === ledger.others;
  const shown: ShownLedger = {
    ...torch,
    total: toSteps(ledger.totalBytes, scale),
    outside: step(ledger.outside),
    others: rowsAreComplete ? sumKnown(processes) : step(ledger.others),
    unattributed: step(ledger.unattributed),
    driverReserved: step(ledger.driverReserved),
    unavailable: null,
    free: step(ledger.free),
    processes,
  };
  takeRemainder(shown, rowsAreComplete);
  return shown;
}

type Torch = Pick<ShownLedger, 'used' | 'reserved' | 'cached' | 'pending' | 'stranded' | 'releasable'>;

/** The part of the ledger that PyTorch holds. */
function showTorch(ledger: Ledger, sessions: readonly SessionLeaf[], scale: Scale): Torch {
  const reservedBytes = sumKnown([ledger.used, ledger.pending, ledger.stranded, ledger.releasable]);
  if (ledger.used === null || ledger.pending === null || ledger.releasable === null || reservedBytes === null) {
    const step = (bytes: number | null) => (bytes === null ? null : toSteps(bytes, scale));
    return {
      used: step(ledger.used),
      reserved: null,
      cached: null,
      pending: step(ledger.pending),
      stranded: step(ledger.stranded),
      releasable: step(ledger.releasable),
    };
  }
  const complete =
    sumKnown(sessions.map((s) => s.usedBytes)) === ledger.used &&
    sumKnown(sessions.map((s) => s.reservedBytes)) === reservedBytes &&
    sumKnown(sessions.map((s) => s.releasableBytes)) === ledger.releasable;
  const rows = complete
    ? sessions.map((s) => showSession(s, scale))
    : [showSession({ usedBytes: ledger.used, reservedBytes, releasableBytes: ledger.releasable }, scale)];
  const used = rows.reduce((sum, row) => sum + row.used, 0);
  const reserved = rows.reduce((sum, row) => sum + row.reserved, 0);
  const releasable = rows.reduce((sum, row) => sum + row.releasable, 0);
  const cached = reserved - used;
  // Roundings may leave less room in cached than its leaves ask for; pending, the smallest, gives way.
  const pending = Math.min(toSteps(ledger.pending, scale), cached - releasable);
  return { used, reserved, cached, pending, releasable, stranded: cached - releasable - pending };
}

/** Gives *free* the remainder; where that is negative, the largest leaf outside PyTorch, else used, gives way. */
function takeRemainder(shown: ShownLedger, rowsAreOthers: boolean): void {
  shown.unavailable = sumKnown([shown.outside, shown.others, shown.unattributed, shown.driverReserved]);
  if (shown.unavailable === null || shown.reserved === null || shown.free === null) return;
  let free = shown.total - shown.reserved - shown.unavailable;
  while (free < 0) {
    const leaves: { size: number; give: () => void }[] = [
      { size: shown.outside ?? 0, give: () => (shown.outside = (shown.outside ?? 0) - 1) },
      { size: shown.unattributed ?? 0, give: () => (shown.unattributed = (shown.unattributed ?? 0) - 1) },
      { size: shown.driverReserved ?? 0, give: () => (shown.driverReserved = (shown.driverReserved ?? 0) - 1) },
      ...(rowsAreOthers
        ? shown.processes.map((size, i) => ({ size: size ?? 0, give: () => (shown.processes[i] = (size ?? 0) - 1) }))
        : [{ size: shown.others ?? 0, give: () => (shown.others = (shown.others ?? 0) - 1) }]),
    ];
    const largest = leaves.reduce((a, b) => (b.size > a.size ? b : a));
    if (largest.size > 0) {
      largest.give();
      if (rowsAreOthers) shown.others = sumKnown(shown.processes);
      shown.unavailable = sumKnown([shown.outside, shown.others, shown.unattributed, shown.driverReserved]) ?? 0;
    } else if ((shown.used ?? 0) > 0) {
      shown.used = (shown.used ?? 0) - 1;
      shown.reserved -= 1;
    } else {
      break;
    }
    free += 1;
  }
  shown.free = free;
}
