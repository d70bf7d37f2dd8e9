import { lineBreak, logicalLineEnd } from './logicalLines';

/** Cell magics that run the cell's own Python in the notebook's namespace; the body of any other is not ours to read. */
const pythonMagics = new Set(['time', 'timeit', 'capture', 'prun', 'debug', 'memit', 'snakeviz', 'heat', 'scalene']);
const keywords = new Set([
  ...['False', 'None', 'True', 'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def', 'del'],
  ...['elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal'],
  ...['not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield'],
]);

/** A stretch of a cell's source and what stands there instead, as long as it. */
export interface Replacement {
  start: number;
  end: number;
  by: string;
}

/**
 * What makes IPython's own syntax inert: magics (`%x`, `%%x`), shell lines (`!x`), help (`x?`) and auto-calls (`/f x`).
 * Every line keeps its length, and the Python names that such a line reads are still read by what replaces it.
 */
export function magicReplacements(source: string): Replacement[] {
  const found: Replacement[] = [];
  let at = 0;
  const cellMagic = /^\s*%%(\w*)/.exec(source);
  if (cellMagic !== null) {
    const start = source.indexOf('%%');
    at = lineBreak(source, start);
    found.push({ start, end: at, by: usesOf(source.slice(start, at)) });
    if (!pythonMagics.has(cellMagic[1] ?? '')) {
      found.push({ start: at, end: source.length, by: source.slice(at).replace(/[^\r\n]/g, ' ') });
      return found;
    }
  }
  while (at < source.length) {
    const start = at + (match(/[ \t]*/y, source, at)?.[0].length ?? 0);
    const replacement = lineReplacement(source, start);
    if (replacement !== null) found.push(replacement);
    at = logicalLineEnd(source, replacement?.end ?? start);
  }
  return found;
}

/** `source` with its replacements in place. */
export function withReplacements(source: string, replacements: readonly Replacement[]): string {
  let text = '';
  let at = 0;
  for (const { start, end, by } of replacements) {
    text += source.slice(at, start) + by;
    at = end;
  }
  return text + source.slice(at);
}

/** The replacement in the logical line whose first character, after the indentation, is at `start`. */
function lineReplacement(source: string, start: number): Replacement | null {
  // The statement after `%time` runs in the notebook's namespace: it stays, behind a statement that does nothing.
  const timed = match(/%time[ \t]+(?![-\s]|(?:async|class|def|for|if|match|try|while|with)\b)/y, source, start);
  if (timed !== null) return { start, end: start + timed[0].length, by: '0;'.padEnd(timed[0].length) };
  const isEscape = match(/[%!?/,;]/y, source, start) !== null;
  if (isEscape || match(/[^#'"\r\n]*\?[ \t]*(?=\r?\n|$)/y, source, start) !== null) {
    const end = magicEnd(source, start);
    return { start, end, by: usesOf(source.slice(start, end)) };
  }
  const assigned = match(/[^#'"\r\n=!<>%]*[^#'"\r\n=!<>%+\-*/|&^@:]=[ \t]*(?=[!%])/y, source, start);
  if (assigned === null) return null;
  const from = start + assigned[0].length;
  const timedValue = match(/%time[ \t]+(?!-)/y, source, from);
  if (timedValue !== null)
    return { start: from, end: from + timedValue[0].length, by: ' '.repeat(timedValue[0].length) };
  const end = magicEnd(source, from);
  return { start: from, end, by: filled(source.slice(from, end), '0') };
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

/** The end of a magic's or shell command's line; a backslash joins the next one to it. */
function magicEnd(source: string, start: number): number {
  let end = lineBreak(source, start);
  while (end < source.length && /\\\r?$/.test(source.slice(start, end))) end = lineBreak(source, end + 1);
  return end;
}

/** A statement as long as `magic` that reads the same names and shows nothing. */
function usesOf(magic: string): string {
  const deleted = /^%xdel[ \t]+([\p{L}_][\p{L}\p{N}_]*)[ \t]*$/u.exec(magic)?.[1];
  if (deleted !== undefined) return filled(magic, `del ${deleted}`);
  const room = lineBreak(magic, 0);
  let uses = '';
  for (const name of namesRead(magic)) {
    const longer = uses === '' ? name : `${uses},${name}`;
    if (longer.length < room) uses = longer;
  }
  return filled(magic, uses === '' ? '0' : `${uses};`);
}

/** `by` at the beginning, then blanks to the same length, line by line. */
function filled(magic: string, by: string): string {
  return by + magic.slice(by.length).replace(/[^\r\n]/g, ' ');
}

function namesRead(magic: string): Set<string> {
  // The shell sees Python only in braces and after a dollar sign.
  const shell = magic.startsWith('!');
  const texts = shell ? [...magic.matchAll(/\{([^}]*)\}|\$(\w+)/g)].map((one) => one[1] ?? one[2] ?? '') : [magic];
  const names = texts.flatMap((text) =>
    [...text.replace(/^%{1,2}\w+/, '').matchAll(/(?<![\p{L}\p{N}_.]|\s--?)[\p{L}_][\p{L}\p{N}_]*/gu)].map(
      ([name]) => name,
    ),
  );
  return new Set(names.filter((name) => !keywords.has(name)));
}
