import { describe, expect, it } from 'vitest';
import { formatSize, parseSize, parseSizes } from '../../../src/shared/sizes';

describe('parseSize', () => {
  it.each([
    ['24GiB', 24 * 1024 ** 3],
    ['24 gib', 24 * 1024 ** 3],
    ['1.5g', 1.5 * 1024 ** 3],
    ['512MiB', 512 * 1024 ** 2],
    ['4096', 4096],
  ])('reads %s', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each(['', '0', '-1GiB', '24GB', 'GiB', '1e9', '24GiB,', '9999999999TiB'])('refuses "%s"', (text) =>
    expect(parseSize(text)).toBeNull(),
  );

  it('reads a list, and refuses it whole when one is wrong', () => {
    expect(parseSizes('1GiB,2GiB')).toEqual([1024 ** 3, 2 * 1024 ** 3]);
    expect(parseSizes('1GiB,x')).toBeNull();
  });
});

describe('formatSize', () => {
  it.each([
    [0, '0 MiB'],
    [1.24 * 1024 ** 3, '1.2 GiB'],
    [512 * 1024 ** 2, '512.0 MiB'],
    [-2 * 1024 ** 3, '-2.0 GiB'],
  ])('prints %d bytes as %s', (bytes, text) => expect(formatSize(bytes)).toBe(text));
});

describe('formatSize in one sentence with larger sizes', () => {
  it.each([
    [0.3 * 1024 ** 3, '0.3 GiB'],
    [20 * 1024 ** 2, '20.0 MiB'],
    [0, '0 MiB'],
  ])('prints %d bytes beside 2 GiB as %s', (bytes, text) => expect(formatSize(bytes, 2 * 1024 ** 3)).toBe(text));
});
