import type { Run } from './runs';

/** The quantities of cases.json, from the samples of a run; those of the warm-up are left out as they were there. */
export function quantityOf(name: string, { samples, peak }: Run): number {
  const warmUp = samples.length > 4 ? Math.min(Math.max(2, samples.length >> 2), samples.length - 3) : 0;
  const kept = samples.slice(warmUp);
  switch (name) {
    case 'tensor_slope_bytes_per_iter':
      return slope(kept.map(([bytes]) => bytes));
    case 'heap_slope_bytes_per_iter':
      return slope(kept.map(([bytes, heap]) => bytes + heap));
    case 'tensor_mean_after_warmup':
      return kept.reduce((sum, [bytes]) => sum + bytes, 0) / kept.length;
    case 'peak_bytes':
      return Math.max(...kept.map(([, , one]) => one), kept.length === 0 ? peak : 0);
    default:
      throw new Error(`cases.json has an unknown quantity: ${name}`);
  }
}

/** Of the line through the values that fits best. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const covariance = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0);
  return covariance / values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
}

const number = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** Whether two outputs say the same, numbers up to what rounding does to them: some digits, or the last one printed. */
export function saysTheSame(one: string, other: string): boolean {
  if (one.replace(number, '#') !== other.replace(number, '#')) return false;
  const others = other.match(number) ?? [];
  return (one.match(number) ?? []).every((text, index) => isClose(text, others[index] ?? ''));
}

function isClose(one: string, other: string): boolean {
  if (one === other) return true;
  const digits = (text: string): number => /\.(\d+)/.exec(text)?.[1]?.length ?? 0;
  if (digits(one) === 0 && digits(other) === 0) return false; // a count
  const [a, b] = [Number(one), Number(other)];
  const lastDigit = 1.01 * 10 ** -Math.min(digits(one), digits(other));
  return Math.abs(a - b) <= Math.max(1e-4 * Math.abs(a), /e/i.test(one) ? 0 : lastDigit);
}
