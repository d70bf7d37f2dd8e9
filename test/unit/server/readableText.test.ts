import type { Parser } from 'web-tree-sitter';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findingInTyped, ReadableText, type Readable } from '../../../src/server/readableText';
import { testParser } from '../analysis/testParser';

let parser: Parser;
beforeAll(async () => {
  parser = await testParser();
});

const first = ['def first(x):', '    y = x + 1', '    return y', '', ''].join('\n');
const second = ['def second(x):', '    z = x * 2', '    return z', '', ''].join('\n');
const good = `import torch\n\n${first}${second}print(first(second(1)))\n`;

let text: ReadableText;
beforeEach(() => {
  text = new ReadableText(parser);
});

/** What is read after each of these texts was typed. */
function typed(...texts: string[]): Readable {
  const [last] = texts.map((one) => text.update(one)).slice(-1);
  if (last === undefined) throw new Error('nothing typed');
  return last;
}

/** The place of the only `needle` in a text. */
function placeOf(needle: string, within: string): { start: number; end: number } {
  const start = within.indexOf(needle);
  expect(start).toBeGreaterThanOrEqual(0);
  return { start, end: start + needle.length };
}

describe('text that is Python', () => {
  it('is read as it is', () => {
    const changed = good.replace('x + 1', 'x + 12');
    expect(typed(good, changed).text).toBe(changed);
  });

  it('is read as it is where it was not all Python to begin with', () => {
    const old = `print "hello"\n${good}`;
    expect(typed(old).text).toBe(old);
    const changed = old.replace('x + 1', 'x + 2');
    expect(typed(changed).text).toBe(changed);
  });
});

describe('a function that an edit breaks', () => {
  const broken = good.replace('x + 1', 'x + (1');

  it('is read as it was before', () => expect(typed(good, broken).text).toBe(good));

  it('keeps the places of what follows it', () => {
    const readable = typed(good, broken);
    expect(readable.toTyped(placeOf('x * 2', good))).toEqual(placeOf('x * 2', broken));
    expect(readable.fromTyped(broken.indexOf('x * 2'))).toBe(good.indexOf('x * 2'));
    expect(readable.toTyped(placeOf('return y', good))).toEqual(placeOf('return y', broken));
    expect(readable.toTyped(placeOf('import torch', good))).toEqual(placeOf('import torch', broken));
  });

  it('lets the others be read as they are now', () => {
    const further = broken.replace('x * 2', 'x * 234');
    const readable = typed(good, broken, further);
    expect(readable.text).toBe(good.replace('x * 2', 'x * 234'));
    expect(readable.toTyped(placeOf('x * 234', readable.text))).toEqual(placeOf('x * 234', further));
  });

  it('is read again once it is Python', () => {
    const mended = good.replace('x + 1', 'x + (1)');
    const readable = typed(good, broken, mended);
    expect(readable.text).toBe(mended);
    expect(readable.isBroken({ start: 0, end: mended.length })).toBe(false);
  });

  it('may be one of several', () => {
    const both = broken.replace('x * 2', 'x * [2');
    expect(typed(good, broken, both).text).toBe(good);
    const oneMended = both.replace('(1', '(1)');
    expect(typed(oneMended).text).toBe(good.replace('x + 1', 'x + (1)'));
    expect(typed(oneMended.replace('[2', '[2]')).text).toBe(
      good.replace('x + 1', 'x + (1)').replace('x * 2', 'x * [2]'),
    );
  });

  it('may break together with others, by one edit in several places', () => {
    const both = broken.replace('x * 2', 'x * [2');
    const readable = typed(good, both);
    expect(readable.text).toBe(good);
    expect(readable.toTyped(placeOf('return y', good))).toEqual(placeOf('return y', both));
    expect(readable.toTyped(placeOf('def second', good))).toEqual(placeOf('def second', both));
    const further = `# more\n${both.replace('return y', 'return (y').replace('return z', 'return (z')}`;
    expect(typed(further).text).toBe(`# more\n${good}`);
    expect(typed(`# more\n${good}`).text).toBe(`# more\n${good}`);
  });

  it('is a method alone, or a statement of the top level', () => {
    const inClass = `class A:\n    a = 1\n\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n${good}`;
    const changed = inClass.replace('return 1', 'return (1').replace('a = 1', 'a = 2');
    expect(typed(inClass, inClass.replace('return 1', 'return (1'), changed).text).toBe(
      inClass.replace('a = 1', 'a = 2'),
    );
    expect(typed(good.replace('print(first', 'print((first')).text).not.toContain('((');
  });

  it('may be typed at the end, and lines may come and go', () => {
    const begun = `${good}\ndef third(x:\n`;
    const readable = typed(good, begun);
    expect(readable.text).toBe(good);
    expect(readable.toTyped(placeOf('import torch', good))).toEqual(placeOf('import torch', begun));
    const finished = `${good}\ndef third(x):\n    return x\n`;
    expect(typed(finished).text).toBe(finished);
  });

  it('gives way where an edit takes it and its neighbour', () => {
    const gone = good.replace(first, '').replace(second, 'def (');
    const readable = typed(good, broken, gone);
    expect(readable.text.length).toBeGreaterThan(0);
    expect(readable.toTyped(placeOf('import torch', good))).toEqual(placeOf('import torch', gone));
  });

  it('keeps its findings, without fixes, but not those of what was typed over', () => {
    const readable = typed(good, broken);
    const message = { text: 'kept', values: [] };
    const fix = { title: message, safe: true, edits: [{ ...placeOf('return y', good), newText: '' }] };
    const found = {
      ...{ rule: 'r', severity: 'error' as const, message, fixes: [fix] },
      ...{ ...placeOf('y = x + 1', good), chain: [{ ...placeOf('x * 2', good), message }] },
    };
    expect(findingInTyped(found, readable)).toEqual({
      ...{ ...found, ...placeOf('y = x + (1', broken), fixes: [] },
      chain: [{ ...placeOf('x * 2', broken), message }],
    });
    const other = { ...found, fixes: [{ ...fix, edits: [{ ...placeOf('return z', good), newText: '' }] }] };
    expect(findingInTyped(other, readable)?.fixes[0]?.edits).toEqual([{ ...placeOf('return z', broken), newText: '' }]);
    const replaced = typed(good, good.replace('x + 1', 'call('));
    expect(findingInTyped({ ...found, ...placeOf('x + 1', good) }, replaced)).toBeNull();
  });
});
