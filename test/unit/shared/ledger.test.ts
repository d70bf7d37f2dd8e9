import { describe, expect, it } from 'vitest';
import {
  allocatorLedger,
  driverLedger,
  ledgerParts,
  simulatedLedger,
  type Holding,
  type Ledger,
} from '../../../src/shared/ledger';

const holding: Holding = { pid: 1, usedBytes: 100, reservedBytes: 180, pendingBytes: 10, strandedBytes: 30 };

function sum(ledger: Ledger): number {
  return ledgerParts.reduce((total, part) => total + (ledger[part] ?? 0), 0);
}

describe('the ledger of a simulated device', () => {
  it('knows every part and gives free the rest', () => {
    const ledger = simulatedLedger(1000, [holding, { ...holding, pid: 2 }]);
    expect(ledger).toMatchObject({ used: 200, pending: 20, stranded: 60, releasable: 80, free: 640 });
    expect(ledger).toMatchObject({ outside: 0, others: 0, unattributed: 0, driverReserved: 0 });
    expect(sum(ledger)).toBe(1000);
  });

  it.each<[string, Partial<Holding>]>([
    ['stranded exceeds what is cached', { strandedBytes: 500 }],
    ['pending exceeds what is cached', { pendingBytes: 500 }],
    ['used exceeds reserved', { usedBytes: 300 }],
    ['more is reserved than there is', { reservedBytes: 5000 }],
  ])('still sums to the total when %s', (_name, change) => {
    expect(sum(simulatedLedger(1000, [{ ...holding, ...change }]))).toBe(1000);
  });
});

describe('the ledger of a real device', () => {
  it('leaves what only the driver knows as not known', () => {
    const ledger = allocatorLedger(1000, [holding]);
    expect(ledger).toMatchObject({ used: 100, pending: 10, stranded: 30, releasable: 40 });
    for (const part of ['free', 'outside', 'others', 'unattributed', 'driverReserved'] as const) {
      expect(ledger[part]).toBeNull();
    }
  });

  it('splits the driver’s figures into outside, others and unattributed', () => {
    const ledger = driverLedger(
      {
        totalBytes: 1000,
        freeBytes: 500,
        driverReservedBytes: 50,
        processes: [
          { pid: 1, usedBytes: 230 },
          { pid: 9, usedBytes: 120 },
          { pid: 10, usedBytes: null },
        ],
      },
      [holding],
    );
    expect(ledger).toMatchObject({ outside: 50, others: 120, driverReserved: 50, free: 500, unattributed: 100 });
    expect(sum(ledger)).toBe(1000);
  });

  it('attributes nothing to processes the driver does not name', () => {
    const ledger = driverLedger({ totalBytes: 1000, freeBytes: 500, driverReservedBytes: null, processes: null }, [
      holding,
    ]);
    expect(ledger).toMatchObject({ outside: null, others: null, driverReserved: null, unattributed: 320 });
    expect(sum(ledger)).toBe(1000);
  });
});
