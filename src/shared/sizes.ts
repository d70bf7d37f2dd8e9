import { GiB, KiB, MiB } from './units';

const units: Record<string, number> = {
  '': 1,
  b: 1,
  k: KiB,
  kib: KiB,
  m: MiB,
  mib: MiB,
  g: GiB,
  gib: GiB,
  t: 1024 * GiB,
  tib: 1024 * GiB,
};

/** Bytes of `24GiB`, `512 MiB`, `24g`; null when it is not a size above zero. Decimal units (GB) are refused: cards are not sold in them. */
export function parseSize(text: string): number | null {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  if (match === null) return null;
  const unit = units[(match[2] ?? '').toLowerCase()];
  const bytes = unit === undefined ? 0 : Math.round(Number(match[1]) * unit);
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : null;
}

/** Bytes of each device in `24GiB,40GiB`; null when one of them is not a size. */
export function parseSizes(text: string): number[] | null {
  const sizes = text.split(',').map(parseSize);
  return sizes.every((size) => size !== null) ? sizes : null;
}

/**
 * `2.6 GiB`, `512.0 MiB`, `0 MiB`: one decimal, GiB from one GiB up, else MiB.
 * @param largest the largest of several sizes said in one sentence: from one GiB up the smaller ones are in GiB too,
 * as long as their one decimal is not zero.
 */
export function formatSize(bytes: number, largest = bytes): string {
  if (bytes === 0) return '0 MiB';
  const inGiB = Math.max(Math.abs(largest), Math.abs(bytes)) >= GiB && Math.abs(bytes) >= 0.05 * GiB;
  return inGiB ? `${(bytes / GiB).toFixed(1)} GiB` : `${(bytes / MiB).toFixed(1)} MiB`;
}
