import { keptFinding, keptGraphOf } from './keptGraph';
import type { Rule } from './rule';
import { storesOf } from './stores';

/**
 * P25 `queue-keeps-graph`: values with their graph are put into a memory bank that is cut to a length: the length is
 * bounded, what the graphs of the remaining ones reach is not.
 */
export const queueKeepsGraph: Rule = {
  slugs: ['queue-keeps-graph'],
  mentions: /\bcat\b|concat|stack/,
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how !== 'queue') continue;
      const kept = keptGraphOf(store, one, program);
      if (kept !== null) yield keptFinding('queue-keeps-graph', store, kept, one, program);
    }
  },
};
