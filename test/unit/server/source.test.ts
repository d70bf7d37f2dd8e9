import { describe, expect, it } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { isCurrent, notebookSource, scriptSource } from '../../../src/server/source';
import { readSettings } from '../../../src/server/settings';

const cell = (name: string, text: string, version = 1): TextDocument =>
  TextDocument.create(`vscode-notebook-cell:/n.ipynb#${name}`, 'python', version, text);
const range = (line: number, from: number, to: number) => ({
  start: { line, character: from },
  end: { line, character: to },
});

describe('a notebook', () => {
  const cells = [cell('a', 'import torch\n%time x = 1'), cell('b', ''), cell('c', 'y = x\nz = y')];
  const source = notebookSource('file:///n.ipynb', cells);

  it('is one text with the ranges of its cells', () => {
    expect(source.text.split('\n').slice(2)).toEqual(['', 'y = x', 'z = y']);
    expect(source.text.slice(source.cells[2]?.start, source.cells[2]?.end)).toBe('y = x\nz = y');
  });

  it('shows a place in its cell, and finds it there again', () => {
    const start = source.text.indexOf('z = y');
    expect(source.location({ start, end: start + 1 })).toEqual({ uri: cells[2]?.uri, range: range(1, 0, 1) });
    expect(source.offsetAt(cells[2]?.uri ?? '', { line: 1, character: 0 })).toBe(start);
    expect(source.offsetAt('file:///other.py', { line: 0, character: 0 })).toBeNull();
  });

  it('is edited cell by cell, but not in a magic or over cells', () => {
    const [first, last] = [source.text.indexOf('torch'), source.text.indexOf('z = y')];
    expect(
      source.changes([
        { start: first, end: first, newText: 'gc, ' },
        { start: last, end: last + 1, newText: 'w' },
      ]),
    ).toEqual({
      [cells[0]?.uri ?? '']: [{ range: range(0, 7, 7), newText: 'gc, ' }],
      [cells[2]?.uri ?? '']: [{ range: range(1, 0, 1), newText: 'w' }],
    });
    expect(source.changes([{ start: first, end: last, newText: '' }])).toBeNull();
    const magic = source.text.indexOf('\n') + 1;
    expect(source.changes([{ start: magic, end: magic + 2, newText: '' }])).toBeNull();
  });

  it('is current until a cell changes, comes or goes', () => {
    const now = (...documents: TextDocument[]) => notebookSource('file:///n.ipynb', documents);
    expect(isCurrent(source, now(...cells))).toBe(true);
    expect(isCurrent(source, now(...cells.slice(1)))).toBe(false);
    expect(isCurrent(source, now(cells[0] as TextDocument, cell('b', 'x', 2), cells[2] as TextDocument))).toBe(false);
    TextDocument.update(cells[1] as TextDocument, [{ text: 'changed' }], 2);
    expect(isCurrent(source, now(...cells))).toBe(false);
  });
});

it('a script is its own document', () => {
  const document = TextDocument.create('file:///a.py', 'python', 3, 'a\nb\n');
  const source = scriptSource(document);
  expect(source.location({ start: 2, end: 3 })).toEqual({ uri: document.uri, range: range(1, 0, 1) });
  expect(source.offsetAt(document.uri, { line: 1, character: 0 })).toBe(2);
  expect(source.offsetAt('file:///b.py', { line: 1, character: 0 })).toBeNull();
  expect(source.changes([{ start: 0, end: 1, newText: 'c' }])).toEqual({
    [document.uri]: [{ range: range(0, 0, 1), newText: 'c' }],
  });
});

describe('settings', () => {
  it.each([
    [null, { enabled: true, select: [], ignore: [] }],
    [{ enabled: false }, { enabled: false, select: [], ignore: [] }],
    [
      { enabled: 'no', select: ['a', 3], ignore: 'b' },
      { enabled: true, select: ['a'], ignore: [] },
    ],
  ])('%j', (answer, settings) => expect(readSettings(answer)).toEqual(settings));
});
