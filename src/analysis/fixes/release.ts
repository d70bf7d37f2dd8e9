import { text, type Edit, type Fix } from '../finding';
import type { Node } from '../syntax/node';

/** `del a, b` on a line of its own before a statement. */
export function deleteBefore(statement: Node, names: readonly string[], source: string, safe: boolean): Fix {
  const line = `del ${names.join(', ')}`;
  return { title: text('Let go of them first: {0}', line), safe, edits: [lineBefore(statement, line, source)] };
}

/** A line before a statement, indented as it is and with the file's line ends. */
export function lineBefore(statement: Node, line: string, source: string): Edit {
  const start = source.lastIndexOf('\n', statement.startIndex - 1) + 1;
  const indent = /^[ \t]*/.exec(source.slice(start, statement.startIndex))?.[0] ?? '';
  const end = source.slice(0, start).endsWith('\r\n') ? '\r\n' : '\n';
  return { start, end: start, newText: `${indent}${line}${end}` };
}
