import { text, type Fix } from '../finding';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';

/**
 * Moves the end of a handler, from the statement of `call` on, behind the `try` statement, under a flag that the handler
 * sets. Null where those lines need the exception, or where something runs between the handler and what follows.
 */
export function retryOutside(call: Node, handler: Node, source: string): Fix | null {
  const attempt = handler.parent;
  if (attempt === null || children(attempt).some((child) => /^(else|finally)_clause$/.test(child.type))) return null;
  const moved = movedStatements(call, handler);
  const [first] = moved;
  const last = moved.at(-1);
  if (first === undefined || last === undefined || !isFree(moved, handler)) return null;
  const flag = ['failed', 'retry', 'attempt_failed'].find((name) => !new RegExp(`\\b${name}\\b`).test(source));
  const outer = indentation(attempt, source);
  const handled = indentation(children(attempt.childForFieldName('body') ?? attempt)[0] ?? attempt, source);
  const inner = indentation(first, source);
  if (flag === undefined || outer === null || handled === null || inner === null) return null;
  const end = lineEnd(source, last.endIndex);
  const lines = source.slice(first.startIndex, end).split('\n');
  if (lines.slice(1).some((line) => line.trim() !== '' && !line.startsWith(inner))) return null;
  const body = [lines[0], ...lines.slice(1).map((line) => line.slice(inner.length))]
    .map((line, index) => (index > 0 && line === '' ? '' : `${handled}${line}`))
    .join('\n');
  const after = lineEnd(source, attempt.endIndex);
  return {
    title: text('Make the second attempt after the try statement'),
    safe: true,
    edits:
      end === after
        ? [
            { start: attempt.startIndex, end: attempt.startIndex, newText: `${flag} = False\n${outer}` },
            { start: first.startIndex, end, newText: `${flag} = True\n${outer}if ${flag}:\n${body}` },
          ]
        : [
            { start: attempt.startIndex, end: attempt.startIndex, newText: `${flag} = False\n${outer}` },
            { start: first.startIndex, end, newText: `${flag} = True` },
            { start: after, end: after, newText: `\n${outer}if ${flag}:\n${body}` },
          ],
  };
}

/** From the statement with the call to the end of the handler, or of the branch that ends it. */
function movedStatements(call: Node, handler: Node): Node[] {
  let at = call;
  for (let block = at.parent; block !== null && block.id !== handler.id; at = block, block = block.parent) {
    if (block.type !== 'block' || !endsHandler(block, handler)) continue;
    const from = at.startIndex;
    return children(block).filter((statement) => statement.startIndex >= from);
  }
  return [];
}

/** Whether nothing of the handler runs after the block. */
function endsHandler(block: Node, handler: Node): boolean {
  for (let at = block; at.parent !== null; at = at.parent) {
    if (at.parent.id === handler.id) return true;
    if (at.parent.type === 'if_statement' || at.parent.type.endsWith('_clause')) continue;
    if (at.parent.type !== 'block' || children(at.parent).at(-1)?.id !== at.id) return false;
  }
  return false;
}

/** They name neither the exception nor raise it again, and no line of them lies inside a string. */
function isFree(moved: readonly Node[], handler: Node): boolean {
  const caught = children(handler).find((child) => child.type === 'as_pattern');
  const name = caught === undefined ? null : (children(caught).at(-1)?.text ?? null);
  for (const statement of moved) {
    for (const node of descend(statement)) {
      if (node.type === 'identifier' && node.text === name) return false;
      if (node.type === 'raise_statement' && children(node).length === 0) return false;
      if (node.type === 'string' && node.text.includes('\n')) return false;
      if (node.type === 'call' && /exc_info|format_exc/.test(node.childForFieldName('function')?.text ?? ''))
        return false;
    }
  }
  return true;
}

function indentation(statement: Node, source: string): string | null {
  const before = source.slice(source.lastIndexOf('\n', statement.startIndex - 1) + 1, statement.startIndex);
  return before.trim() === '' ? before : null;
}

function lineEnd(source: string, from: number): number {
  const newline = source.indexOf('\n', from);
  const end = newline < 0 ? source.length : newline;
  return source[end - 1] === '\r' ? end - 1 : end;
}
