import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/shared/ledger';
import { showLedger, showSession, sumKnown } from '../../../src/shared/shownLedger';
import { GiB, MiB, scaleFor } from '../../../src/shared/units';

const scale = scaleFor([24564 * MiB]);

/** The training state of design/panel.html, where the shown figures are known. */
const training: Ledger = {
  totalBytes: 24564 * MiB,
  used: 15053 * MiB,
  pending: 18 * MiB,
  stranded: 1219 * MiB,
  releasable: 2674 * MiB,
  free: 3475 * MiB,
  outside: 542 * MiB,
  others: 1210 * MiB,
  unattributed: 26 * MiB,
  driverReserved: 347 * MiB,
};
const desk = [862, 188, 96, 64].map((mib) => mib * MiB);

/** A repeatable stream of numbers from 0 to 1. */
function* numbers(seed: number): Generator<number, never> {
  for (;;) {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    yield seed / 2 ** 32;
  }
}

describe('the shown ledger', () => {
  it('shows the figures of the design', () => {
    const shown = showLedger(training, [], desk, scale);
    expect(shown).toMatchObject({
      used: 1470,
      cached: 382,
      reserved: 1852,
      releasable: 261,
      stranded: 119,
      pending: 2,
    });
    expect(shown).toMatchObject({ free: 340, outside: 53, others: 117, unattributed: 3, driverReserved: 34 });
    expect(shown.total).toBe(2399);
    expect(shown.unavailable).toBe(207);
    expect(shown.processes).toEqual([84, 18, 9, 6]);
  });

  it('adds up for any ledger, and no part is negative', () => {
    const random = numbers(7);
    const next = () => random.next().value;
    for (let round = 0; round < 2000; round++) {
      const sessions = Array.from({ length: 1 + Math.floor(next() * 4) }, () => {
        const usedBytes = Math.floor(next() * 3 * GiB);
        const releasableBytes = Math.floor(next() * 2 ** (next() * 30));
        return {
          usedBytes,
          releasableBytes,
          reservedBytes: usedBytes + releasableBytes + Math.floor(next() * 40 * MiB),
        };
      });
      const others = Array.from({ length: Math.floor(next() * 5) }, () => Math.floor(next() * 900 * MiB));
      const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
      const used = sum(sessions.map((s) => s.usedBytes));
      const releasable = sum(sessions.map((s) => s.releasableBytes));
      const rest = sum(sessions.map((s) => s.reservedBytes)) - used - releasable;
      const pending = Math.floor(rest * next());
      const outside = Math.floor(next() * 500 * MiB);
      const driverReserved = Math.floor(next() * 400 * MiB);
      const free = next() < 0.3 ? 0 : Math.floor(next() * GiB);
      const parts = { used, pending, stranded: rest - pending, releasable, free, outside, unattributed: 3 * MiB };
      const ledger = { ...parts, driverReserved, others: sum(others) };
      const shown = showLedger({ ...ledger, totalBytes: sum(Object.values(ledger)) }, sessions, others, scale);

      const { total, reserved, cached, stranded, unavailable } = shown;
      expect(sumKnown([shown.used, shown.pending, stranded, shown.releasable])).toBe(reserved);
      expect(sumKnown([shown.pending, stranded, shown.releasable])).toBe(cached);
      expect(sumKnown([reserved, shown.free, unavailable])).toBe(total);
      if (others.length > 0) expect(sumKnown(shown.processes)).toBe(shown.others);
      expect(sum(sessions.map((s) => showSession(s, scale).used)) - (shown.used ?? 0)).toBeLessThanOrEqual(3);
      for (const part of Object.values(shown).flat()) expect(part).toBeGreaterThanOrEqual(0);
      // The remainder is rounding only: half a step for each of the leaves.
      expect(Math.abs((shown.free ?? 0) - (free / GiB) * 100)).toBeLessThanOrEqual(10);
    }
  });

  it('is the sum of the sessions’ rows where they are all of it', () => {
    const third = { usedBytes: 1.004 * GiB, reservedBytes: 1.004 * GiB, releasableBytes: 0 };
    const ledger = { ...training, used: 3 * third.usedBytes, pending: 0, stranded: 0, releasable: 0 };
    expect(showLedger(ledger, [third, third, third], [], scale).used).toBe(300);
    expect(showLedger(ledger, [third], [], scale).used).toBe(301);
  });

  it('leaves unknown parts unknown', () => {
    const unknown = { free: null, outside: null, others: null, unattributed: null, driverReserved: null };
    const shown = showLedger({ ...training, ...unknown }, [], [null], scale);
    expect(shown).toMatchObject({ ...unknown, used: 1470, unavailable: null, processes: [null] });
  });

  it('says what the driver says where only the driver is known', () => {
    const unknown = { used: null, pending: null, stranded: null, releasable: null };
    const shown = showLedger({ ...training, ...unknown }, [], desk, scale);
    expect(shown).toMatchObject({ used: null, reserved: null, cached: null, free: 339 });
  });
});
