/**
 * One device's total, split into parts that always sum to it (DESIGN section 1). The order is the bar's order
 * (design/panel.md section 2): what PyTorch holds grows from the left, what it cannot have stands at the right.
 */
export const ledgerParts = [
  'used',
  'pending',
  'stranded',
  'releasable',
  'free',
  'outside',
  'others',
  'unattributed',
  'driverReserved',
] as const;
export type LedgerPart = (typeof ledgerParts)[number];

/** Bytes per part; null: not known (there is no driver view). Known parts sum to `totalBytes` when none is null. */
export type Ledger = { totalBytes: number } & Record<LedgerPart, number | null>;

/** What one session holds on the device, bytes, by its allocator. */
export interface Holding {
  pid: number;
  usedBytes: number;
  reservedBytes: number;
  pendingBytes: number;
  strandedBytes: number;
}

/** What the driver says of the device, bytes; null: it does not say. */
export interface DriverFigures {
  totalBytes: number;
  freeBytes: number;
  driverReservedBytes: number | null;
  /** Null: the driver names no processes here (WSL, missing rights). */
  processes: { pid: number; usedBytes: number | null }[] | null;
}

/** The allocator's side of the ledger. `releasable` takes the remainder, so that the four sum to reserved. */
function allocatorParts(holdings: readonly Holding[]): Record<'used' | 'pending' | 'stranded' | 'releasable', number> {
  const parts = { used: 0, pending: 0, stranded: 0, releasable: 0 };
  for (const holding of holdings) {
    const cached = Math.max(0, holding.reservedBytes - holding.usedBytes);
    // Counters of one moment can disagree by a block: a part never exceeds what is left of cached.
    const pending = Math.min(holding.pendingBytes, cached);
    const stranded = Math.min(holding.strandedBytes, cached - pending);
    parts.used += holding.reservedBytes - cached;
    parts.pending += pending;
    parts.stranded += stranded;
    parts.releasable += cached - pending - stranded;
  }
  return parts;
}

/** A simulated device's ledger: nothing exists there but its sessions; free is the rest. */
export function simulatedLedger(totalBytes: number, holdings: readonly Holding[]): Ledger {
  const parts = allocatorParts(holdings);
  const reserved = parts.used + parts.pending + parts.stranded + parts.releasable;
  // More reserved than there is cannot be; should it ever, the difference is shown as unattributed (a minus), not hidden.
  const rest = totalBytes - reserved;
  return {
    totalBytes,
    ...parts,
    free: Math.max(0, rest),
    outside: 0,
    others: 0,
    unattributed: Math.min(0, rest),
    driverReserved: 0,
  };
}

/** A real device's ledger without the driver's view: only the allocator's side is known. */
export function allocatorLedger(totalBytes: number, holdings: readonly Holding[]): Ledger {
  return {
    totalBytes,
    ...allocatorParts(holdings),
    free: null,
    outside: null,
    others: null,
    unattributed: null,
    driverReserved: null,
  };
}

/**
 * A real device's ledger with the driver's view. What the driver counts as used and nobody is known to hold is
 * *unattributed*; two clocks can make it negative for a moment, which is shown, never scaled away.
 */
export function driverLedger(driver: DriverFigures, holdings: readonly Holding[]): Ledger {
  const { totalBytes, freeBytes, driverReservedBytes, processes } = driver;
  const parts = allocatorParts(holdings);
  const reserved = parts.used + parts.pending + parts.stranded + parts.releasable;
  const reservedBy = new Map<number, number>();
  for (const { pid, reservedBytes } of holdings) reservedBy.set(pid, (reservedBy.get(pid) ?? 0) + reservedBytes);
  let outside: number | null = processes === null ? null : 0;
  let others: number | null = processes === null ? null : 0;
  for (const { pid, usedBytes } of processes ?? []) {
    if (usedBytes === null) continue;
    const session = reservedBy.get(pid);
    if (session === undefined) others = (others ?? 0) + usedBytes;
    else outside = (outside ?? 0) + Math.max(0, usedBytes - session);
  }
  const known = reserved + freeBytes + (driverReservedBytes ?? 0) + (outside ?? 0) + (others ?? 0);
  return {
    totalBytes,
    ...parts,
    free: freeBytes,
    outside,
    others,
    unattributed: totalBytes - known,
    driverReserved: driverReservedBytes,
  };
}
