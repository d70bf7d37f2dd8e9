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
