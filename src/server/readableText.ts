import type { Parser } from 'web-tree-sitter';
import type { Edit, Finding, Fix, Range } from '../analysis/finding';
import { reversed, shifted, spliceBetween, splicesBetween, type Splice } from './splice';
import { countErrors, partStarts } from './syntaxErrors';

/** A part of the text that is no Python at the moment. */
interface Broken extends Range {
  /** The part before it broke. */
  good: string;
  /** What happened to it since, in order, in offsets of the part. */
  splices: readonly Splice[];
}

/** A text for the analysis, and the way from its offsets to those of the text that is being typed. */
export interface Readable {
  readonly text: string;
  /** The place in the typed text; null for what was typed over. */
  toTyped(range: Range): Range | null;
  /** Whether a place is, in part, in what is read as it was before. */
  isBroken(range: Range): boolean;
  /** An offset of the typed text in this one; of what was typed over the nearest. */
  fromTyped(offset: number): number;
}

/**
 * Follows a text while it is typed. Where an edit breaks the syntax, the function (or statement) around it is read as it
 * was before, until it is Python again; everything else is read as it is now.
 */
export class ReadableText {
  private typed = '';
  private readable = '';
  private broken: Broken[] = [];
  /** What `readable` has: some files are not all Python to begin with. */
  private errors = Infinity;

  constructor(private readonly parser: Parser) {}

  update(typed: string): Readable {
    const errors = countErrors(this.parser, typed);
    if (errors <= this.errors) this.accept(typed, [], errors);
    else this.follow(typed, errors);
    return readableOf(this.readable, this.broken);
  }

  private follow(typed: string, errors: number): void {
    const splice = spliceBetween(this.typed, typed);
    if (splice === null) return;
    let broken = movedAll(this.broken, splicesBetween(this.typed, typed));
    if (broken === null || countErrors(this.parser, assembled(typed, broken)) > this.errors) {
      broken = this.withPartAround(splice, typed);
    } else {
      broken = this.stillBroken(typed, broken);
    }
    const readable = assembled(typed, broken);
    const left = countErrors(this.parser, readable);
    if (left <= this.errors) this.accept(typed, broken, left);
    else this.accept(typed, [], errors);
  }

  private accept(typed: string, broken: Broken[], errors: number): void {
    this.typed = typed;
    this.broken = broken;
    this.readable = assembled(typed, broken);
    this.errors = errors;
  }

  /** Without the parts that are Python again. */
  private stillBroken(typed: string, broken: readonly Broken[]): Broken[] {
    let left = [...broken];
    for (const one of broken) {
      const without = left.filter((other) => other !== one);
      if (countErrors(this.parser, assembled(typed, without)) <= this.errors) left = without;
    }
    return left;
  }

  /** With the parts that an edit touches. Broken ones that lie in or at them become one with them. */
  private withPartAround(splice: Splice, typed: string): Broken[] {
    const before = readableOf(this.readable, this.broken);
    let [from, to] = [splice.start, splice.start + splice.removed];
    for (const one of this.broken) {
      if (one.end < from || one.start > to) continue;
      [from, to] = [Math.min(from, one.start), Math.max(to, one.end)];
    }
    const starts = partStarts(this.parser, this.readable);
    const [first, last] = [before.fromTyped(from), before.fromTyped(to)];
    // What is typed right before a part is the end of the part ahead of it.
    const start = starts.findLast((one) => (first === last ? one < first : one <= first)) ?? 0;
    const end = starts.find((one) => one >= last && one > start) ?? this.readable.length;
    const part = before.toTyped({ start, end }) ?? { start: 0, end: this.typed.length };
    const now = { start: part.start, end: part.end - splice.removed + splice.added };
    const good = this.readable.slice(start, end);
    const others = this.broken.filter((one) => one.end <= part.start || one.start >= part.end);
    const joined = { ...now, good, splices: splicesBetween(good, typed.slice(now.start, now.end)) };
    return [...(moved(others, splice) ?? []), joined].sort((a, b) => a.start - b.start);
  }
}

function movedAll(broken: Broken[], splices: readonly Splice[]): Broken[] | null {
  return splices.reduce<Broken[] | null>((all, splice) => (all === null ? null : moved(all, splice)), broken);
}

/** The broken parts after an edit of the text; null when the edit reaches over the edge of one. */
function moved(broken: readonly Broken[], splice: Splice): Broken[] | null {
  const after: Broken[] = [];
  const growth = splice.added - splice.removed;
  let isTaken = false;
  for (const one of broken) {
    // Between two parts it is the first one's.
    if (!isTaken && splice.start >= one.start && splice.start + splice.removed <= one.end) {
      isTaken = true;
      const inside = { ...splice, start: splice.start - one.start };
      after.push({ ...one, end: one.end + growth, splices: [...one.splices, inside] });
    } else if (splice.start + splice.removed <= one.start) {
      after.push({ ...one, start: one.start + growth, end: one.end + growth });
    } else if (splice.start >= one.end) {
      after.push(one);
    } else return null;
  }
  return after;
}

/** The text with every broken part as it was before. */
function assembled(typed: string, broken: readonly Broken[]): string {
  let text = '';
  let at = 0;
  for (const { start, end, good } of broken) {
    text += typed.slice(at, start) + good;
    at = end;
  }
  return text + typed.slice(at);
}

function readableOf(text: string, broken: readonly Broken[]): Readable {
  // Each broken part with where it begins in the readable text.
  let grown = 0;
  const parts = broken.map((part) => {
    const start = part.start + grown;
    grown += part.good.length - (part.end - part.start);
    return { part, start, end: start + part.good.length };
  });
  const toTyped = (offset: number): number => {
    const at = parts.findLast((one) => one.start <= offset);
    if (at === undefined) return offset;
    const { part, start, end } = at;
    if (offset >= end) return part.end + offset - end;
    return part.start + part.splices.reduce(shifted, offset - start);
  };
  return {
    text,
    toTyped: (range) => {
      const at = parts.find(({ start, end }) => start <= range.start && range.end < end);
      if (at !== undefined && isGone({ start: range.start - at.start, end: range.end - at.start }, at.part.splices))
        return null;
      return { start: toTyped(range.start), end: toTyped(range.end) };
    },
    isBroken: (range) => parts.some(({ start, end }) => range.start < end && range.end > start),
    fromTyped: (offset) => {
      const at = parts.findLast(({ part }) => part.start <= offset);
      if (at === undefined) return offset;
      const { part, start, end } = at;
      if (offset >= part.end) return end + offset - part.end;
      return (
        start +
        [...part.splices]
          .reverse()
          .map(reversed)
          .reduce(shifted, offset - part.start)
      );
    },
  };
}

/** Whether nothing of a range is left after the splices. */
function isGone({ start, end }: Range, splices: readonly Splice[]): boolean {
  let [from, to] = [start, end];
  for (const splice of splices) {
    if (splice.removed > 0 && from >= splice.start && to <= splice.start + splice.removed) return true;
    [from, to] = [shifted(from, splice), shifted(to, splice)];
  }
  return false;
}

/** A finding of the readable text in the typed one; null when what it is about was typed over. */
export function findingInTyped(finding: Finding, readable: Readable): Finding | null {
  const place = readable.toTyped(finding);
  if (place === null) return null;
  return {
    ...{ ...finding, ...place },
    chain: finding.chain.map((reason) => ({ ...reason, ...(readable.toTyped(reason) ?? place) })),
    fixes: finding.fixes.flatMap((fix) => fixInTyped(fix, readable) ?? []),
  };
}

/** A fix of the readable text in the typed one; null when it would change what is not Python at the moment. */
export function fixInTyped(fix: Fix, readable: Readable): Fix | null {
  const edits: Edit[] = [];
  for (const edit of fix.edits) {
    const place = readable.isBroken(edit) ? null : readable.toTyped(edit);
    if (place === null) return null;
    edits.push({ ...edit, ...place });
  }
  return { ...fix, edits };
}
