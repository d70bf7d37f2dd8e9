import { JsonError, readJson, stringOf, type JsonValue } from './json';

/** The source of a code cell as it stands in the file: one string, or a list of strings that are joined. */
export interface CodeCell {
  /** Among all cells of the notebook, from 0. */
  index: number;
  source: string;
  /** The value of `source` (`input` before nbformat 4). */
  value: JsonValue;
}

export interface Notebook {
  /** The file's text, without a byte order mark. */
  json: string;
  /** The Python code cells, in the file's order. */
  cells: readonly CodeCell[];
}

/** Why a file is not read as a notebook. `language` is the one that its kernel runs. */
export type NotRead = { reason: 'json'; line: number } | { reason: 'shape' } | { reason: 'language'; language: string };

/** Reads nbformat 3 and 4. Markdown, raw cells and cells in other languages are left out. */
export function readNotebook(json: string): Notebook | NotRead {
  let root: JsonValue;
  try {
    root = readJson(json);
  } catch (error) {
    if (error instanceof JsonError) return { reason: 'json', line: json.slice(0, error.offset).split('\n').length };
    if (error instanceof SyntaxError) return { reason: 'shape' }; // a key that no JSON string can be
    throw error;
  }
  const all = cellValues(root);
  if (all === null) return { reason: 'shape' };
  const language = kernelLanguage(json, root);
  if (language !== null && !isPython(language)) return { reason: 'language', language };

  const cells: CodeCell[] = [];
  for (const [index, cell] of all.entries()) {
    if (textAt(json, cell, 'cell_type') !== 'code') continue;
    // nbformat 3 keeps a language per cell; VS Code's notebooks of several languages do so in the cell's metadata.
    const own = textAt(json, cell, 'language') ?? textAt(json, cell, 'metadata', 'vscode', 'languageId');
    if (own !== null && !isPython(own)) continue;
    const value = cell.members.get('source') ?? cell.members.get('input');
    const source = value === undefined ? null : sourceOf(json, value);
    if (value === undefined || source === null) return { reason: 'shape' };
    cells.push({ index, source, value });
  }
  return { json, cells };
}

/** The cells of a notebook; null when it is none. Before nbformat 4 they are in worksheets. */
function cellValues(root: JsonValue): readonly JsonValue[] | null {
  if (root.kind !== 'object' || !root.members.has('nbformat')) return null;
  const cells = root.members.get('cells');
  if (cells?.kind === 'array') return cells.items;
  const worksheets = root.members.get('worksheets');
  if (worksheets?.kind !== 'array') return null;
  return worksheets.items.flatMap((sheet) => sheet.members.get('cells')?.items ?? []);
}

function kernelLanguage(json: string, root: JsonValue): string | null {
  return (
    textAt(json, root, 'metadata', 'language_info', 'name') ?? textAt(json, root, 'metadata', 'kernelspec', 'language')
  );
}

/** "python", "python3", "ipython", and "Python" of some kernels. */
function isPython(language: string): boolean {
  return /^i?python\d*$/i.test(language);
}

function sourceOf(json: string, value: JsonValue): string | null {
  try {
    if (value.kind === 'string') return stringOf(json, value);
    if (value.kind !== 'array' || value.items.some((item) => item.kind !== 'string')) return null;
    return value.items.map((item) => stringOf(json, item)).join('');
  } catch {
    return null; // an escape that is none
  }
}

/** The string at a path of keys, or null. */
function textAt(json: string, value: JsonValue, ...path: string[]): string | null {
  let at: JsonValue | undefined = value;
  for (const key of path) at = at?.members.get(key);
  return at?.kind === 'string' ? sourceOf(json, at) : null;
}
