import { keptFinding, keptGraphOf } from './keptGraph';
import { isReportedAtCalls } from './meterStoresGraph';
import type { Rule } from './rule';
import { storesOf } from './stores';

/**
 * P03 `graph-appended`: a value that carries its graph is added to a collection that outlives the loop, and nothing
 * back-propagates, empties or renews it.
 */
export const graphAppended: Rule = {
  slugs: ['graph-appended'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how !== 'append' && store.how !== 'item') continue;
      if (isReportedAtCalls(store, program)) continue;
      const kept = keptGraphOf(store, one, program);
      if (kept !== null) yield keptFinding('graph-appended', store, kept, one, program);
    }
  },
};
