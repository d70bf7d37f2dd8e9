import { describe, expect, it } from 'vitest';
import { JoinedCells } from '../../../src/notebooks/joined';
import { readNotebook, type Notebook } from '../../../src/notebooks/notebook';
import { jsonOffset, writeSources } from '../../../src/notebooks/write';

function read(json: string): Notebook {
  const notebook = readNotebook(json);
  if ('reason' in notebook) throw new Error(JSON.stringify(notebook));
  return notebook;
}
const written = (json: string, sources: Record<number, string>): string =>
  writeSources(read(json), new Map(Object.entries(sources).map(([index, source]) => [Number(index), source])));

const python = { kernelspec: { name: 'python3', language: 'python' }, language_info: { name: 'python' } };
const code = (source: string | string[]): object => ({ cell_type: 'code', metadata: {}, outputs: [], source });
const version4 = (cells: object[], metadata: object = python, indent = 1): string =>
  `${JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }, null, indent)}\n`;

describe('reading a notebook', () => {
  it('counts all cells, and takes the code of Python', () => {
    const json = version4([
      { cell_type: 'markdown', source: ['%%bash'] },
      code(['import torch\n', 'x = 1']),
      { ...code('alert(1)'), metadata: { vscode: { languageId: 'javascript' } } },
      code('y = 2'),
    ]);
    expect(read(json).cells.map(({ index, source }) => [index, source])).toEqual([
      [1, 'import torch\nx = 1'],
      [3, 'y = 2'],
    ]);
  });

  it('knows the worksheets of nbformat 3', () => {
    const cells = [
      { cell_type: 'heading', level: 1, source: 'a' },
      { cell_type: 'code', language: 'python', input: ['x = 1\n', 'y'], outputs: [] },
      { cell_type: 'code', language: 'ruby', input: 'puts', outputs: [] },
    ];
    const json = JSON.stringify({ metadata: { name: '' }, nbformat: 3, worksheets: [{ cells }] });
    expect(read(json).cells.map(({ index, source }) => [index, source])).toEqual([[1, 'x = 1\ny']]);
    expect(written(json, { 1: 'x = 1\nz' })).toBe(json.replace('"y"', '"z"'));
  });

  it('says why it does not read one', () => {
    expect(readNotebook('{"cells": [\n{"cell_type" "code"}]}')).toEqual({ reason: 'json', line: 2 });
    expect(readNotebook('')).toEqual({ reason: 'json', line: 1 });
    expect(readNotebook(`${'['.repeat(100_000)}`)).toEqual({ reason: 'json', line: 1 });
    expect(readNotebook('[1]')).toEqual({ reason: 'shape' });
    expect(readNotebook('{"nbformat": 4, "cells": [{"cell_type": "code", "source": 5}]}')).toEqual({ reason: 'shape' });
    expect(readNotebook(version4([], { language_info: { name: 'R' } }))).toEqual({ reason: 'language', language: 'R' });
    expect(readNotebook(version4([], { kernelspec: { name: 'x', language: 'julia' } }))).toMatchObject({
      language: 'julia',
    });
  });

  it('takes what Python writes: NaN, Infinity', () => {
    const json = '{"metadata": {"x": [NaN, -Infinity, 1e-5]}, "nbformat": 4, "cells": []}';
    expect(read(json).cells).toEqual([]);
  });
});

describe('the joined cells', () => {
  const cells = [
    { index: 1, source: 'a = 1\n%time f(a)' },
    { index: 4, source: '' },
    { index: 5, source: 'b = 2\nc = 3' },
  ];
  const joined = new JoinedCells(cells);

  it('lead from offsets to cells and back', () => {
    expect(joined.text).toBe('a = 1\n0;    f(a)\n\nb = 2\nc = 3');
    for (let offset = 0; offset < joined.text.length; offset++) {
      const place = joined.placeAt(offset);
      expect(place === null ? null : joined.offsetOf(place)).toBe(offset);
    }
    expect(joined.placeAt(joined.text.indexOf('c ='))).toEqual({ cell: 5, offset: 6 });
    expect(joined.offsetOf({ cell: 2, offset: 0 })).toBeNull();
  });

  it('take edits of one cell, and no others', () => {
    const at = joined.text.indexOf('b = 2');
    const edits = (start: number, end: number, newText: string): unknown => joined.cellEdits([{ start, end, newText }]);
    expect(edits(at + 4, at + 5, '9')).toEqual([{ cell: 5, edit: { start: 4, end: 5, newText: '9' } }]);
    expect(edits(at - 3, at + 1, '')).toBeNull();
    expect(edits(6, 7, '')).toBeNull(); // into %time
    expect(edits(12, 13, 'g')).toEqual([{ cell: 1, edit: { start: 12, end: 13, newText: 'g' } }]);
    // The last line of a cell, with the line break that joins it to the next one.
    expect(edits(6 + 6, 6 + 11, '')).toEqual([{ cell: 1, edit: { start: 12, end: 16, newText: '' } }]);
  });

  it('take a whole last line away with the break before it', () => {
    const two = new JoinedCells([
      { index: 0, source: 'a\ngone' },
      { index: 1, source: 'b' },
    ]);
    expect(two.cellEdits([{ start: 2, end: 7, newText: '' }])).toEqual([
      { cell: 0, edit: { start: 1, end: 6, newText: '' } },
    ]);
  });
});

describe('writing sources back', () => {
  const list = code(['import torch\n', 'total += loss\n', 'print("é", "\t")']);
  const one = code('import torch\ntotal += loss\nprint("é")');

  it.each([1, 2, '\t', 0] as const)('changes one line of a list, whatever the indentation (%j)', (indent) => {
    const json = JSON.stringify({ cells: [list, one], metadata: python, nbformat: 4 }, null, indent);
    const changed = 'import torch\ntotal += loss.item()\nprint("é", "\t")';
    expect(written(json, { 0: changed })).toBe(json.replace('"total += loss\\n"', '"total += loss.item()\\n"'));
  });

  it('adds and removes lines in the style of the list', () => {
    const json = version4([list]);
    const more = 'import gc\nimport torch\ntotal += loss\nprint("é", "\t")\ndel total';
    expect(written(json, { 0: more })).toBe(
      version4([code(['import gc\n', 'import torch\n', 'total += loss\n', 'print("é", "\t")\n', 'del total'])]),
    );
    expect(written(json, { 0: 'import torch\n' })).toBe(version4([code(['import torch\n'])]));
    expect(written(version4([code(['x']), list]), { 0: 'x\ny' })).toBe(version4([code(['x\n', 'y']), list]));
  });

  it('keeps a string a string, and every escape outside the change', () => {
    const json = version4([one]).replace('print', '\\u0070rint');
    expect(written(json, { 0: 'import torch\ntotal += loss.item()\nprint("é")' })).toBe(
      json.replace('loss\\n', 'loss.item()\\n'),
    );
  });

  it('writes letters outside ASCII as the notebook does', () => {
    const raw = version4([code('x = "é"'), code('y')]);
    expect(written(raw, { 1: 'y = "ü🙂"' })).toBe(raw.replace('"y"', '"y = \\"ü🙂\\""'));
    const escaped = raw.replace('é', '\\u00e9');
    expect(written(escaped, { 1: 'y = "ü"' })).toBe(escaped.replace('"y"', '"y = \\"\\u00fc\\""'));
    const emoji = version4([code('x = "🙂"')]);
    expect(written(emoji, { 0: 'x = "🙃"' })).toBe(version4([code('x = "🙃"')]));
  });

  it('keeps what it does not know: order, blanks, end of file, line breaks', () => {
    const json = '{"nbformat":4 ,\r\n "x":[1 , 2],"cells": [ {"source":["a\\n" , "b"],"cell_type":"code"} ] }';
    expect(written(json, { 0: 'a\nc' })).toBe(json.replace('"b"', '"c"'));
    expect(written(json, {})).toBe(json);
  });

  it('says where a place of a cell stands in the file', () => {
    const json = version4([list, one]);
    const [first, second] = read(json).cells;
    if (first === undefined || second === undefined) throw new Error('two cells');
    expect(json.slice(jsonOffset(read(json), first, first.source.indexOf('+=')))).toMatch(/^\+= loss\\n"/);
    expect(json.slice(jsonOffset(read(json), second, second.source.indexOf('"é')))).toMatch(/^\\"é/);
  });
});
