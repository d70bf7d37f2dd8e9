import { describe, expect, it } from 'vitest';
import { deviceSizes, numberBetween, oneOf, parse, positiveInteger } from '../../../src/cli/arguments';
import { UsageError } from '../../../src/cli/usageError';

describe('arguments', () => {
  it('take what is right', () => {
    expect(positiveInteger('12', '--pid')).toBe(12);
    expect(positiveInteger(undefined, '--pid')).toBeNull();
    expect(numberBetween('0.2', '--hz', 0.2, 10)).toBe(0.2);
    expect(oneOf(undefined, '--format', ['text', 'json'])).toBe('text');
    expect(oneOf('json', '--format', ['text', 'json'])).toBe('json');
    expect(deviceSizes('1GiB,2GiB', '--gpu')).toEqual([1024 ** 3, 2 * 1024 ** 3]);
  });

  it.each([
    () => positiveInteger('0', '--pid'),
    () => positiveInteger('1e3', '--pid'),
    () => numberBetween('', '--hz', 0.2, 10),
    () => numberBetween('11', '--hz', 0.2, 10),
    () => numberBetween('fast', '--hz', 0.2, 10),
    () => oneOf('xml', '--format', ['text', 'json']),
    () => deviceSizes('24GB', '--gpu'),
    () => parse(['--nope'], {}),
    () => parse(['--pid'], { pid: { type: 'string' } }),
  ])('refuse what is wrong (%#)', (read) => expect(read).toThrow(UsageError));
});
