import { describe, expect, it } from 'vitest';
import { panelStrings } from '../../../src/shared/panelStrings';
import { barWidths } from '../../../src/webview/panel/bar';
import { shownSpanMs } from '../../../src/webview/panel/chart';
import { gridValues, tickInterval } from '../../../src/webview/panel/chartPaint';
import { axisTime, fill } from '../../../src/webview/panel/text';

describe('the bar', () => {
  it('fills its width in whole pixels, and no part disappears', () => {
    expect(barWidths([1470, 2, 119, 261, 340, 53, 117, 3, 34], 256).reduce((a, b) => a + b, 0)).toBe(256);
    expect(barWidths([10_000, 1, 0, 1], 100)).toEqual([94, 3, 0, 3]);
    expect(barWidths([], 100)).toEqual([]);
    expect(barWidths([0, 0], 100)).toEqual([0, 0]);
  });
});

describe('the chart’s axes', () => {
  it('have few round values up to the card’s size', () => {
    expect(gridValues(23.99)).toEqual([0, 8, 16, 24]);
    expect(gridValues(80)).toEqual([0, 20, 40, 60, 80]);
    expect(gridValues(15.77)).toEqual([0, 4, 8, 12, 16]);
    expect(gridValues(10.75)).toEqual([0, 4, 8]);
    expect(gridValues(2048)).toEqual([0, 512, 1024, 1536, 2048]);
  });

  it('have step ticks at least 6 px apart', () => {
    expect([8, 2, 0.7, 0.2, 0.07, 0.004].map(tickInterval)).toEqual([1, 5, 10, 50, 100, 5000]);
    for (const stepPx of [0.001, 0.013, 0.5, 1.3, 5.9]) expect(tickInterval(stepPx) * stepPx).toBeGreaterThanOrEqual(6);
  });

  it('reach back as far as chosen, but not far beyond what is known of a young session', () => {
    const minute = 60_000;
    expect(shownSpanMs(600, 9 * minute)).toBe(10 * minute);
    expect(shownSpanMs(600, minute)).toBe(4 * minute);
    expect(shownSpanMs(600, 0)).toBe(minute);
    expect(shownSpanMs(60, minute)).toBe(minute);
    expect(shownSpanMs(null, 20 * minute)).toBe(20 * minute);
    expect(shownSpanMs(null, 0)).toBe(minute);
  });

  it('say how long ago', () => {
    const at = (seconds: number) => axisTime(seconds, panelStrings);
    expect([600, 450, 30, 3600, 4320].map(at)).toEqual(['−10 min', '−7:30', '−0:30', '−1 h', '−1 h 12 min']);
  });
});

describe('texts', () => {
  it('get their places filled, once', () => {
    expect(fill('{0} of {1}', 1, '{0}')).toBe('1 of {0}');
    expect(fill('{0} {2}', 'a')).toBe('a {2}');
  });
});
