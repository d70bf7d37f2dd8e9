import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import { backPropagated } from '../syntax/statements';

/** Whether the same round of a loop goes on to back-propagate what `name` is after `statement`. */
export function isFreedLater(name: string, statement: Node, loop: Node | null): boolean {
  for (const node of descend(loop ?? statement)) {
    if (node.type === 'call' && node.startIndex > statement.endIndex && backPropagated(node).includes(name))
      return true;
  }
  return false;
}
