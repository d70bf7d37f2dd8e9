import { gradientOf } from './inputChain';
import type { Interpreted } from '../values/interpret';
import { keptFinding, keptGraphOf } from './keptGraph';
import type { Rule } from './rule';
import { storesOf, type Store } from './stores';

/**
 * P24 `average-keeps-graph`: a running average is rebuilt from its last value and one that carries its graph, so its
 * graph reaches back to the first step.
 */
export const averageKeepsGraph: Rule = {
  slugs: ['average-keeps-graph'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how !== 'average') continue;
      // An input that is optimised step by step is no average, and one that is cut later in the round keeps nothing.
      if (store.loop !== null && (gradientOf(store.keeper, store.loop, one) !== null || isCutInRound(store, one)))
        continue;
      const kept = keptGraphOf(store, one, program);
      if (kept !== null) yield keptFinding('average-keeps-graph', store, kept, one, program);
    }
  },
};

/** What the statement makes is gone at the head of the next round. */
function isCutInRound({ keeper, loop, statement }: Store, one: Interpreted): boolean {
  const head = loop === null ? undefined : one.before.get(loop.id)?.get(keeper);
  if (head?.kind !== 'tensor') return false;
  return !head.holds.some(({ node }) => statement.startIndex <= node.startIndex && node.endIndex <= statement.endIndex);
}
