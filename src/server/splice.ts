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

/** Texts with more lines to compare than this, one's times the other's, count as changed in one stretch. */
const mostComparisons = 250_000;

/** Every stretch that changed between two texts, told by their lines; the last one first, so that each can be made as it is. */
export function splicesBetween(before: string, after: string): Splice[] {
  const whole = spliceBetween(before, after);
  if (whole === null) return [];
  const old = linesOf(before.slice(whole.start, whole.start + whole.removed));
  const now = linesOf(after.slice(whole.start, whole.start + whole.added));
  if (old.length < 2 || now.length < 2 || old.length * now.length > mostComparisons) return [whole];
  return changedRuns(old, now)
    .flatMap(({ oldText, newText, at }) => {
      const change = spliceBetween(oldText, newText);
      return change === null ? [] : [{ ...change, start: whole.start + at + change.start }];
    })
    .reverse();
}

const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

/** Runs of lines that are not in both texts, by the longest list of lines that is; `at` is an offset of the old text. */
function changedRuns(
  old: readonly string[],
  now: readonly string[],
): { oldText: string; newText: string; at: number }[] {
  const common = commonLines(old, now);
  const runs: { oldText: string; newText: string; at: number }[] = [];
  let [i, j, at] = [0, 0, 0];
  while (i < old.length || j < now.length) {
    const run = { oldText: '', newText: '', at };
    for (;;) {
      const [left, right] = [old[i], now[j]];
      if (left !== undefined && left === right) break;
      const takesOld = left !== undefined && (right === undefined || common(i + 1, j) >= common(i, j + 1));
      if (takesOld) {
        run.oldText += left;
        i++;
      } else if (right !== undefined) {
        run.newText += right;
        j++;
      } else break;
    }
    runs.push(run);
    at += run.oldText.length;
    for (; i < old.length && old[i] === now[j]; i++, j++) at += old[i]?.length ?? 0;
  }
  return runs;
}

/** How many lines two texts have in common, in order, from a line of each on. */
function commonLines(old: readonly string[], now: readonly string[]): (i: number, j: number) => number {
  const width = now.length + 1;
  const counts = new Uint32Array((old.length + 1) * width);
  const count = (i: number, j: number): number => counts[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      counts[i * width + j] = old[i] === now[j] ? count(i + 1, j + 1) + 1 : Math.max(count(i + 1, j), count(i, j + 1));
    }
  }
  return count;
}

/** Where an offset of the text before is in the text after; one in the middle of what changed stays as near as it can. */
export function shifted(offset: number, { start, removed, added }: Splice): number {
  if (offset <= start) return offset;
  return offset >= start + removed ? offset - removed + added : Math.min(offset, start + added);
}

export function reversed({ start, removed, added }: Splice): Splice {
  return { start, removed: added, added: removed };
}
