import { keptFinding, keptGraphOf } from './keptGraph';
import type { Rule } from './rule';
import { storesOf } from './stores';

/**
 * P24 `average-keeps-graph`: a running average is rebuilt from its last value and one that carries its graph, so its
 * graph reaches back to the first step.
 */
export const averageKeepsGraph: Rule = {
  slugs: ['average-keeps-graph'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how !== 'average') continue;
      const kept = keptGraphOf(store, one, program);
      if (kept !== null) yield keptFinding('average-keeps-graph', store, kept, one, program);
    }
  },
};
