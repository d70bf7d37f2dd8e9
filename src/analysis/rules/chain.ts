import type { Node } from '../syntax/node';
import { text, type Reason, type Text } from '../finding';
import type { TensorValue } from '../values/value';

export function reason(node: Node, message: Text): Reason {
  return { start: node.startIndex, end: firstLineEnd(node), message };
}

/** Why a kept tensor costs: where its graph comes from, and what keeps it round after round. */
export function keepingChain(value: TensorValue, keptBy: string, loop: Node | null, start: Node | null): Reason[] {
  const chain: Reason[] = [];
  if (value.from !== null)
    chain.push(reason(value.from, text('The graph is recorded here, with the activations it needs.')));
  if (start !== null) chain.push(reason(start, text('{0} begins here and lives on from round to round.', keptBy)));
  if (loop !== null) chain.push(reason(loop, text('Every round of this loop adds one more graph to {0}.', keptBy)));
  return chain;
}

/** Long nodes (a loop with its body) are pointed at by their first line. */
function firstLineEnd(node: Node): number {
  const line = node.text.indexOf('\n');
  return line < 0 ? node.endIndex : node.startIndex + line;
}
