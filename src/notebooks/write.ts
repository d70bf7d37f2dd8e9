import { stringOf, type JsonValue } from './json';
import type { CodeCell, Notebook } from './notebook';

/**
 * The notebook's text with new sources for some code cells (by their index among all cells). Everything else stays byte
 * for byte: a source stays a string or a list, and its unchanged part is copied as it was written.
 */
export function writeSources(notebook: Notebook, sources: ReadonlyMap<number, string>): string {
  const { json } = notebook;
  const writeString = stringWriter(json);
  let text = '';
  let at = 0;
  for (const cell of notebook.cells) {
    const source = sources.get(cell.index);
    if (source === undefined || source === cell.source) continue;
    const { start, end, kind } = cell.value;
    text += json.slice(at, start);
    text +=
      kind === 'string' ? stringWith(json, cell, source, writeString) : listWith(notebook, cell, source, writeString);
    at = end;
  }
  return text + json.slice(at);
}

/** The offset in the notebook's text of an offset in a cell's source. */
export function jsonOffset({ json }: Notebook, { value }: CodeCell, offset: number): number {
  if (value.kind === 'string') return offsetInString(json, value, offset);
  let before = 0;
  for (const item of value.items) {
    const { length } = stringOf(json, item);
    if (offset < before + length) return offsetInString(json, item, offset - before);
    before += length;
  }
  return (value.items.at(-1)?.end ?? value.end) - 1;
}

type WriteString = (text: string) => string;

/** Text inside the quotes, written as the notebook writes: non-ASCII letters as they are, or escaped. */
function stringWriter(json: string): WriteString {
  const escapes = !/[^\x00-\x7f]/.test(json) && /\\u00[89a-f]|\\u(?!00)/i.test(json);
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return (text) => {
    const plain = JSON.stringify(text).slice(1, -1);
    return escapes ? plain.replace(/[\u0080-\uffff]/g, escaped) : plain;
  };
}

function stringWith(json: string, { source, value }: CodeCell, changed: string, writeString: WriteString): string {
  let [same, sameEnd] = [0, 0];
  const shorter = Math.min(source.length, changed.length);
  while (same < shorter && source[same] === changed[same]) same++;
  while (sameEnd < shorter - same && source.at(-1 - sameEnd) === changed.at(-1 - sameEnd)) sameEnd++;
  // A letter of two code units is written as a whole.
  if (same > 0 && /[\ud800-\udbff]/.test(source[same - 1] ?? '')) same--;
  if (sameEnd > 0 && /[\udc00-\udfff]/.test(source.at(-sameEnd) ?? '')) sameEnd--;
  const from = offsetInString(json, value, same);
  const to = offsetInString(json, value, source.length - sameEnd);
  const middle = writeString(changed.slice(same, changed.length - sameEnd));
  return json.slice(value.start, from) + middle + json.slice(to, value.end);
}

/** Jupyter writes one string per line, the line break inside it. */
function listWith({ json, cells }: Notebook, { value }: CodeCell, changed: string, writeString: WriteString): string {
  const old = value.items.map((item) => stringOf(json, item));
  const lines = changed.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let [same, sameEnd] = [0, 0];
  const shorter = Math.min(old.length, lines.length);
  while (same < shorter && old[same] === lines[same]) same++;
  while (sameEnd < shorter - same && old.at(-1 - sameEnd) === lines.at(-1 - sameEnd)) sameEnd++;
  const literal = (item: JsonValue): string => json.slice(item.start, item.end);
  const literals = [
    ...value.items.slice(0, same).map(literal),
    ...lines.slice(same, lines.length - sameEnd).map((line) => `"${writeString(line)}"`),
    ...value.items.slice(value.items.length - sameEnd).map(literal),
  ];
  if (literals.length === 0) return '[]';
  const { open, between, close } = spacing(json, value, cells);
  return `[${open}${literals.join(between)}${close}]`;
}

/** The blanks of a list, from itself or, where it has too few items to show them, from another cell's list. */
function spacing(
  json: string,
  value: JsonValue,
  cells: readonly CodeCell[],
): { open: string; between: string; close: string } {
  const lists = [value, ...cells.map((cell) => cell.value)].filter(({ kind }) => kind === 'array');
  const filled = lists.find(({ items }) => items.length > 0);
  const [first, last] = [filled?.items[0], filled?.items.at(-1)];
  if (filled === undefined || first === undefined || last === undefined) return { open: '', between: ', ', close: '' };
  const open = json.slice(filled.start + 1, first.start);
  const several = lists.find(({ items }) => items.length > 1)?.items;
  const between =
    several?.[0] === undefined || several[1] === undefined ? `,${open}` : json.slice(several[0].end, several[1].start);
  return { open, between, close: json.slice(last.end, filled.end - 1) };
}

/** The offset in `json` of an offset in what a string literal says. */
function offsetInString(json: string, literal: JsonValue, offset: number): number {
  let at = literal.start + 1;
  for (let left = offset; left > 0; left--) {
    if (json[at] !== '\\') at++;
    else at += json[at + 1] === 'u' ? 6 : 2;
  }
  return at;
}
