import { keptFinding, keptGraphOf } from './keptGraph';
import { isReportedAtCalls } from './meterStoresGraph';
import type { Rule } from './rule';
import { storesOf } from './stores';

/**
 * P01 `graph-summed`, P02 `history-summed`: a value that carries its graph is added to a sum over the rounds of a loop,
 * and nothing back-propagates the sum. Before any backward every round's activations stay on the GPU; after it only the
 * autograd nodes stay, in host memory.
 */
export const graphSummed: Rule = {
  slugs: ['graph-summed', 'history-summed'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how !== 'sum') continue;
      if (isReportedAtCalls(store, program)) continue;
      const kept = keptGraphOf(store, one, program);
      if (kept === null) continue;
      yield keptFinding(kept.value.freed === 'no' ? 'graph-summed' : 'history-summed', store, kept, one, program);
    }
  },
};
