import type { Edit } from '../finding';
import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';

/**
 * Takes a statement away: with its whole line where nothing else stands there, and with the branch around it that would
 * be empty. `pass` stays where the grammar wants a statement.
 */
export function removal(statement: Node, source: string): Edit {
  const block = statement.parent;
  if (block?.type !== 'block' || children(block).length > 1) return wholeLine(statement, source);
  const around = block.parent;
  const branches = around === null ? [] : children(around).filter((child) => /_clause$/.test(child.type));
  if (around?.type === 'if_statement' && branches.length === 0) return removal(around, source);
  return { start: statement.startIndex, end: statement.endIndex, newText: 'pass' };
}

function wholeLine({ startIndex, endIndex }: Node, source: string): Edit {
  const lineStart = source.lastIndexOf('\n', startIndex - 1) + 1;
  const newline = source.indexOf('\n', endIndex);
  const lineEnd = newline < 0 ? source.length : newline + 1;
  const before = source.slice(lineStart, startIndex);
  const after = source.slice(endIndex, lineEnd);
  if (before.trim() === '' && /^\s*(#.*)?\s*$/.test(after)) return { start: lineStart, end: lineEnd, newText: '' };
  // `a; b`: the statement goes with the semicolon behind it, or the one before it.
  const behind = /^\s*;[ \t]*/.exec(after);
  if (behind !== null) return { start: startIndex, end: endIndex + behind[0].length, newText: '' };
  const ahead = /;[ \t]*$/.exec(before);
  if (ahead !== null) return { start: startIndex - ahead[0].length, end: endIndex, newText: '' };
  return { start: startIndex, end: endIndex, newText: 'pass' };
}

/** A new statement on a line of its own behind another one, indented as that is; null where it shares its line. */
export function addition(after: Node, statement: string, source: string): Edit | null {
  return additions(after, [statement], source);
}

/** The same with several statements, a line each. */
export function additions(after: Node, statements: readonly string[], source: string): Edit | null {
  const lineStart = source.lastIndexOf('\n', after.startIndex - 1) + 1;
  const indentation = source.slice(lineStart, after.startIndex);
  if (indentation.trim() !== '') return null;
  if (!/^\s*(#.*)?\s*$/.test(source.slice(after.endIndex, lineEnd(after.endIndex, source)))) return null;
  const end = behindComments(lineEnd(after.endIndex, source), indentation, source);
  const at = source[end - 1] === '\r' ? end - 1 : end;
  const lineBreak = at < end ? '\r\n' : '\n';
  return { start: at, end: at, newText: statements.map((one) => `${lineBreak}${indentation}${one}`).join('') };
}

function lineEnd(from: number, source: string): number {
  const newline = source.indexOf('\n', from);
  return newline < 0 ? source.length : newline;
}

/** The end of the comments that close a block: they stand further in than the statement that the block is of. */
function behindComments(end: number, indentation: string, source: string): number {
  const comment = /\n([ \t]*)#[^\n]*/y;
  for (let at = end; ;) {
    comment.lastIndex = at;
    const found = comment.exec(source);
    if (found?.[1] === undefined || found[1].length <= indentation.length) return at;
    at += found[0].length;
  }
}
