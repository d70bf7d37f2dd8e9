import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import { isInner } from '../syntax/calls';

/**
 * The last statement, in the innermost block that has all of `nodes` in it, that has one of them: behind it none follows
 * in the source, and it runs as often as that block.
 */
export function lastStatementOf(nodes: readonly Node[]): Node | null {
  const [first, ...others] = nodes.map(statementsAround);
  const block = first?.find(({ parent }) => others.every((list) => list.some((one) => one.parent === parent)))?.parent;
  if (!block) return null;
  const having = nodes.flatMap((node) => statementsAround(node).find((one) => one.parent === block) ?? []);
  return having.reduce<Node | null>(
    (last, one) => (last === null || one.startIndex > last.startIndex ? one : last),
    null,
  );
}

/** The statement behind another one in its block. */
export function statementAfter(statement: Node): Node | null {
  const block = statement.parent === null ? [] : children(statement.parent);
  return block[block.indexOf(statement) + 1] ?? null;
}

/** The statements of blocks that a node is in, innermost first, within its function. */
function statementsAround(node: Node): Node[] {
  const around: Node[] = [];
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (at !== node && isInner(at)) break;
    if (at.parent?.type === 'block' || at.parent?.type === 'module') around.push(at);
  }
  return around;
}
