import { describe, expect, it } from 'vitest';
import type { HistoryColumns } from '../../../src/shared/panelProtocol';
import { History } from '../../../src/webview/panel/history';

/** Samples 100 ms apart from `fromMs` on; reserved is used + 100, steps count on. */
function samples(used: number[], fromMs = 0): HistoryColumns {
  return {
    timeMs: Float64Array.from(used, (_, i) => fromMs + i * 100),
    usedBytes: Float64Array.from(used),
    reservedBytes: Float64Array.from(used, (u) => u + 100),
    step: Float64Array.from(used, (_, i) => i),
  };
}

describe('the page’s history', () => {
  it('shows the largest value of each column', () => {
    const history = new History();
    history.replace(samples([1, 9, 2, 3, 4, 5]));
    expect(history.draw(0, 500, 300)).toEqual({
      timeMs: [200, 500],
      used: [9, 5],
      reserved: [109, 105],
      step: [2, 5],
    });
  });

  it('keeps a gap as one gap, even inside a column', () => {
    const history = new History();
    history.replace(samples([1, NaN, NaN, 2]));
    expect(history.draw(0, 1000, 10_000).used).toEqual([1, null, 2]);
  });

  it('keeps its columns while the window slides', () => {
    const history = new History();
    history.replace(samples(Array.from({ length: 100 }, (_, i) => (i * 37) % 50)));
    const before = history.draw(0, 9_900, 700);
    const after = history.draw(1_450, 9_900, 700);
    expect(after.used.slice(2)).toEqual(before.used.slice(-after.used.length + 2));
  });

  it('leaves out what it has already', () => {
    const history = new History();
    history.replace(samples([1, 2, 3]));
    history.append(samples([7, 8, 4], 100));
    expect(history.draw(0, 1000, 1).used).toEqual([1, 2, 3, 4]);
  });

  it('stays bounded over a day at 10 Hz, keeping peak, gap and ends', () => {
    const history = new History();
    const day = Array.from({ length: 864_000 }, (_, i) => (i === 1000 ? 999 : i % 7));
    history.replace(samples(day));
    history.append(samples([NaN, 1], 864_000 * 100));
    const all = history.draw(0, 864_001 * 100, 1);
    expect(all.used.length).toBeLessThanOrEqual(72_000);
    expect(Math.max(...all.used.map((used) => used ?? 0))).toBe(999);
    expect(all.used.slice(-2)).toEqual([null, 1]);
    expect(history.firstTimeMs).toBeLessThan(864_000);
  });
});
