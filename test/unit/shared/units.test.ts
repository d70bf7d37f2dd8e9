import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatClock,
  formatCount,
  formatRate,
  GiB,
  KiB,
  MiB,
  scaleFor,
  showHeadline,
  showSteps,
  toSteps,
} from '../../../src/shared/units';

describe('a page’s scale', () => {
  it('is GiB with two decimals from 4 GiB on', () => {
    const scale = scaleFor([2 * GiB, 24564 * MiB]);
    expect(scale.unit).toBe('GiB');
    expect(showSteps(toSteps(15053 * MiB, scale), scale)).toBe('14.70');
    expect(showHeadline(toSteps(3475 * MiB, scale), scale)).toBe('3.4');
  });

  it('is MiB without decimals below', () => {
    const scale = scaleFor([2 * GiB]);
    expect(scale.unit).toBe('MiB');
    expect(showSteps(toSteps(512.4 * MiB, scale), scale)).toBe('512');
    expect(showHeadline(512, scale)).toBe('512');
  });

  it('is GiB without any device', () => {
    expect(scaleFor([]).unit).toBe('GiB');
  });
});

describe('single figures', () => {
  it('carry the unit that keeps them readable', () => {
    expect(formatBytes(2674 * MiB)).toBe('2.61 GiB');
    expect(formatBytes(18 * MiB)).toBe('18 MiB');
    expect(formatBytes(512)).toBe('512 B');
    expect(formatBytes(20 * KiB)).toBe('20 KiB');
    expect(formatBytes(0)).toBe('0 MiB');
  });

  it('follow the editor’s language in their separators', () => {
    expect(formatCount(12480, 'en')).toBe('12,480');
    expect(formatCount(12480, 'de')).toBe('12.480');
  });

  it('have about three digits as rates', () => {
    expect([0.31, 1.42, 14.23, 142.3].map(formatRate)).toEqual(['0.31', '1.42', '14.2', '142']);
  });

  it('read as a clock', () => {
    expect([4, 2530].map(formatClock)).toEqual(['0:04', '42:10']);
  });
});
