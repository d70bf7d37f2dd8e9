import { describe, expect, it } from 'vitest';
import { reversed, shifted, splicesBetween } from '../../../src/server/splice';

const texts = ['', 'a\n', 'a\nb\nc\n', 'a\nB\nc\nd', 'x\na\nb\ny\nc\n', 'c\nb\na\n', 'a\na\na\nb\na', 'a\r\nb\r\n'];
const pairs = texts.flatMap((before) => texts.map((after) => [before, after] as const));

it('moves what is behind it, and back', () => {
  const splice = { start: 3, removed: 2, added: 4 };
  expect([2, 3, 4, 5, 9].map((offset) => shifted(offset, splice))).toEqual([2, 3, 4, 7, 11]);
  expect([2, 3, 6, 7, 11].map((offset) => shifted(offset, reversed(splice)))).toEqual([2, 3, 5, 5, 9]);
});

describe('what changed between two texts', () => {
  it.each(pairs)('%j and %j', (before, after) => {
    const splices = splicesBetween(before, after);
    // The text after, made of the text before by putting in what is missing there.
    const ends = splices.map(({ start, removed }) => ({ start, end: start + removed }));
    let text = before;
    let behind = after.length;
    let from = before.length;
    for (const [at, { start, end }] of ends.entries()) {
      behind -= from - end;
      const added = splices[at]?.added ?? 0;
      text = text.slice(0, start) + after.slice(behind - added, behind) + text.slice(end);
      behind -= added;
      from = start;
    }
    expect(text).toBe(after);
  });

  it('is told place by place', () => {
    const before = Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join('');
    const after = before.replace('line 3\n', 'LINE 3\n').replace('line 90\n', 'line 90 more\n');
    expect(splicesBetween(before, after)).toEqual([
      { start: before.indexOf('line 90') + 7, removed: 0, added: 5 },
      { start: before.indexOf('line 3\n'), removed: 4, added: 4 },
    ]);
  });
});
