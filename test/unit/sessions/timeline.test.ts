import { describe, expect, it } from 'vitest';
import { Timeline } from '../../../src/sessions/timeline';

function filled(count: number, capacity?: number): Timeline {
  const timeline = new Timeline(capacity);
  for (let i = 0; i < count; i++) timeline.append(i * 100, i, i * 2, i);
  return timeline;
}

describe('Timeline', () => {
  it('grows, then forgets the oldest', () => {
    const timeline = filled(5000, 3000);
    const { timeMs, usedBytes, reservedBytes, step } = timeline.thinned(null, 10_000);
    expect(timeMs).toHaveLength(3000);
    expect([timeMs[0], usedBytes[0], reservedBytes[0], step[0]]).toEqual([200_000, 2000, 4000, 2000]);
    expect([timeMs[2999], usedBytes[2999]]).toEqual([499_900, 4999]);
  });

  it('hands over what came since a place, even across the ring’s seam', () => {
    const timeline = filled(3100, 3000);
    const place = timeline.total;
    for (let i = 0; i < 3; i++) timeline.append(310_000 + i, i, i, NaN);
    expect([...timeline.since(place).usedBytes]).toEqual([0, 1, 2]);
    expect(timeline.since(timeline.total).timeMs).toHaveLength(0);
    // A reader that slept longer than the ring holds gets what there is.
    expect(timeline.since(0).timeMs).toHaveLength(3000);
  });

  it('keeps a peak of one sample, in used and in reserved, through thinning', () => {
    const timeline = new Timeline();
    for (let i = 0; i < 20_000; i++) {
      timeline.append(i * 100, i === 7777 ? 1e9 : 10, i === 12_345 ? 2e9 : 20, NaN);
    }
    const thin = timeline.thinned(null, 300);
    expect(thin.timeMs.length).toBeLessThanOrEqual(900);
    expect(Math.max(...thin.usedBytes)).toBe(1e9);
    expect(Math.max(...thin.reservedBytes)).toBe(2e9);
    expect([...thin.timeMs]).toEqual([...thin.timeMs].sort((a, b) => a - b));
    expect(thin.timeMs.at(-1)).toBe(1_999_900);
  });

  it('keeps gaps through thinning', () => {
    const timeline = new Timeline();
    for (let i = 0; i < 5000; i++) timeline.append(i * 100, i === 2500 ? NaN : 1, i === 2500 ? NaN : 1, NaN);
    expect([...timeline.thinned(null, 100).usedBytes].filter(Number.isNaN)).toHaveLength(1);
  });

  it('cuts to the span before the newest entry', () => {
    const { timeMs } = filled(1000).thinned(10, 600);
    expect([timeMs[0], timeMs.at(-1), timeMs.length]).toEqual([89_900, 99_900, 101]);
  });

  it('never lets time go back', () => {
    const timeline = filled(2);
    timeline.append(50, 7, 7, 7);
    expect([...timeline.since(0).timeMs]).toEqual([0, 100, 100]);
  });
});
