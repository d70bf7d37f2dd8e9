/** Binary units, named as PyTorch prints them. */
export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;

/** How every size of one page is shown: one unit, one smallest step (design/panel.md section 5). */
export interface Scale {
  unit: 'GiB' | 'MiB';
  /** Bytes of the unit. */
  unitBytes: number;
  /** Bytes of the smallest step shown: 0.01 GiB or 1 MiB. */
  stepBytes: number;
  decimals: 0 | 2;
}

const gibScale: Scale = { unit: 'GiB', unitBytes: GiB, stepBytes: GiB / 100, decimals: 2 };
const mibScale: Scale = { unit: 'MiB', unitBytes: MiB, stepBytes: MiB, decimals: 0 };
/** From this size of the largest card on, a page counts in GiB. */
const gibFromBytes = 4 * GiB;

/** The scale of a page with devices of these sizes in bytes; GiB without any. */
export function scaleFor(totalBytes: readonly number[]): Scale {
  return totalBytes.length > 0 && Math.max(...totalBytes) < gibFromBytes ? mibScale : gibScale;
}

/** Bytes in whole steps of the scale: what sums on the page are made of. */
export function toSteps(bytes: number, scale: Scale): number {
  return Math.round(bytes / scale.stepBytes);
}

/** Steps of the scale as the page prints them, without the unit: `14.70`, or `512` on a MiB page. */
export function showSteps(steps: number, scale: Scale): string {
  return ((steps * scale.stepBytes) / scale.unitBytes).toFixed(scale.decimals);
}

/** A headline's figure with one decimal less than the tables: `3.4`, or `512` on a MiB page. */
export function showHeadline(steps: number, scale: Scale): string {
  return scale.decimals === 0 ? String(steps) : (Math.round(steps / 10) / 10).toFixed(1);
}

/** A size that carries its own unit, for sentences: `14.70 GiB`, `18 MiB`, `512 KiB`. */
export function formatBytes(bytes: number): string {
  if (bytes === 0) return '0 MiB';
  if (bytes >= GiB / 10) return `${(bytes / GiB).toFixed(2)} GiB`;
  if (bytes >= MiB) return `${(bytes / MiB).toFixed(0)} MiB`;
  return bytes >= KiB ? `${(bytes / KiB).toFixed(0)} KiB` : `${bytes} B`;
}

/** A count with the thousands separators of `locale`. */
export function formatCount(count: number, locale: string): string {
  return count.toLocaleString(locale);
}

/** A rate with about three figures: `0.31`, `1.42`, `14.2`, `142`. */
export function formatRate(perSecond: number): string {
  return perSecond.toFixed(perSecond < 10 ? 2 : perSecond < 100 ? 1 : 0);
}

/** Seconds below an hour as a clock shows them: `0:04`, `42:10`. */
export function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
