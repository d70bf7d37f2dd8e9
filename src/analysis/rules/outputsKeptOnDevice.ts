import { text } from '../finding';
import { backwardCallIn } from '../flow/training';
import { reason } from './keptGraph';
import type { Rule } from './rule';
import { storesOf } from './stores';

/**
 * P05 `outputs-kept-on-device`: an evaluation joins every batch's full outputs on the device, batch by batch: the result
 * grows with the data set, and every join copies all that is there.
 */
export const outputsKeptOnDevice: Rule = {
  slugs: ['outputs-kept-on-device'],
  mentions: /\bcat\b|concat/,
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how !== 'queue' || store.keeperOf !== 'function' || store.loop === null) continue;
      // A queue in a training loop is cut to its length.
      if (backwardCallIn(store.loop) !== null || /\[[^\]]*:[^\]]*\]\s*$/.test(store.statement.text)) continue;
      const kept = store.tensors.find(({ value }) => value.full && !value.host && value.output !== null);
      if (kept === undefined || kept.value.graph === 'yes') continue;
      const { statement, keeper } = store;
      yield {
        ...{ rule: 'outputs-kept-on-device', severity: 'warning' },
        ...{ start: statement.startIndex, end: statement.endIndex },
        message: text(
          '{0} collects the outputs of every batch on the GPU and copies all of them in each round. Reduce them first, or move them with .cpu(), into a list that is joined once.',
          keeper,
        ),
        chain: [
          reason(kept.value.own?.node ?? kept.expression, text('The outputs of one batch are made here.')),
          reason(store.loop, text('Every round of this loop adds its outputs to {0}.', keeper)),
        ],
        fixes: [],
      };
    }
  },
};
