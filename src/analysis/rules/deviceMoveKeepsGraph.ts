import { text } from '../finding';
import { keptFinding, keptGraphOf, reason } from './keptGraph';
import type { Rule } from './rule';
import { storesOf } from './stores';

/**
 * P19 `device-move-keeps-graph`: what is kept was moved to host memory with its graph. A move is differentiable: the
 * copy on the host keeps the whole graph on the GPU.
 */
export const deviceMoveKeepsGraph: Rule = {
  slugs: ['device-move-keeps-graph'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how === 'sum' || store.how === 'average') continue;
      const kept = keptGraphOf(store, one, program);
      if (kept === null || kept.value.moved === null) continue;
      const finding = keptFinding('device-move-keeps-graph', store, kept, one, program);
      const moved = reason(kept.value.moved, text('Moving a tensor to the CPU does not detach it from its graph.'));
      yield { ...finding, chain: [moved, ...finding.chain] };
    }
  },
};
