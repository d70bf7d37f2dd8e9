/** A stretch of a text that was replaced by another one. */
export interface Splice {
  start: number;
  removed: number;
  added: number;
}

/** The smallest single stretch that changed between two texts; null when none did. */
export function spliceBetween(before: string, after: string): Splice | null {
  if (before === after) return null;
  let [same, sameEnd] = [0, 0];
  const shorter = Math.min(before.length, after.length);
  while (same < shorter && before[same] === after[same]) same++;
  while (sameEnd < shorter - same && before.at(-1 - sameEnd) === after.at(-1 - sameEnd)) sameEnd++;
  return { start: same, removed: before.length - same - sameEnd, added: after.length - same - sameEnd };
}

/** Where an offset of the text before is in the text after; one in the middle of what changed stays as near as it can. */
export function shifted(offset: number, { start, removed, added }: Splice): number {
  if (offset <= start) return offset;
  return offset >= start + removed ? offset - removed + added : Math.min(offset, start + added);
}

export function reversed({ start, removed, added }: Splice): Splice {
  return { start, removed: added, added: removed };
}
