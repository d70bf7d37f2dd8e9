import { text } from '../finding';
import { reachOf } from '../flow/backward';
import { backwardCallIn } from '../flow/training';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Rule } from './rule';
import { storesOf, type Store } from './stores';

const microBatches = /\.(chunk|split|tensor_split)\(|micro_?batch|chunks?\b/i;

/**
 * P35 `graphs-until-one-backward`: the losses of all micro-batches are gathered before one backward(): all of their
 * graphs are alive at once, where a backward() per micro-batch adds up to the same gradients.
 */
export const graphsUntilOneBackward: Rule = {
  slugs: ['graphs-until-one-backward'],
  mentions: /backward/,
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      const { loop, statement, keeper } = store;
      if (loop === null || store.keeperOf !== 'function' || (store.how !== 'sum' && store.how !== 'append')) continue;
      const over = loop.childForFieldName('right');
      if (over === null || !microBatches.test(over.text) || backwardCallIn(loop) !== null || !isForward(store, loop))
        continue;
      const point = one.graph.at.get(statement.id);
      const isSent =
        point !== undefined && reachOf(one.scope, program.module).backward.after[point]?.has(keeper) === true;
      const backward = backwardAfter(loop, one);
      if (!isSent || backward === null) continue;
      yield {
        ...{
          rule: 'graphs-until-one-backward',
          severity: 'hint',
          start: statement.startIndex,
          end: statement.endIndex,
        },
        message: text(
          '{0} gathers the graphs of all micro-batches until one backward(). If their losses do not depend on each other, a backward() in each round gives the same gradients with the memory of one.',
          keeper,
        ),
        chain: [
          reason(loop, text('Each round of this loop runs the model and keeps its activations.')),
          reason(backward, text('Only this frees them.')),
        ],
        fixes: [],
      };
    }
  },
};

/** The loss of a forward pass of the round. */
function isForward(store: Store, loop: Node): boolean {
  return store.tensors.some(
    ({ value }) =>
      value.graph === 'yes' &&
      value.scalar &&
      value.from !== null &&
      loop.startIndex <= value.from.startIndex &&
      value.from.endIndex <= loop.endIndex &&
      value.from.type === 'call',
  );
}

function backwardAfter(loop: Node, one: Interpreted): Node | null {
  for (const { syntax } of one.graph.points) {
    if (syntax.startIndex < loop.endIndex || syntax.type !== 'expression_statement') continue;
    for (const node of descend(syntax)) if (backwardCallIn(node) !== null) return syntax;
  }
  return null;
}
