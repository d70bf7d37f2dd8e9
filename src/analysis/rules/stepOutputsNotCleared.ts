import { text } from '../finding';
import type { FunctionScope } from '../scopes/module';
import { detachFixes } from '../fixes/detach';
import { keptGraphOf, reason } from './keptGraph';
import type { Rule } from './rule';
import { storesOf } from './stores';

const step = /^(training|validation|test|predict)_step$/;

/**
 * P09 `step-outputs-not-cleared`: a Lightning-like module keeps the outputs of its steps in a list that no epoch hook
 * clears: every epoch adds its own.
 */
export const stepOutputsNotCleared: Rule = {
  slugs: ['step-outputs-not-cleared'],
  *find(one, program) {
    if (!isStep(one.scope)) return;
    for (const store of storesOf(one, program)) {
      if (store.keeperOf !== 'object' || store.how !== 'append' || store.isRenewed || store.loop !== null) continue;
      const graph = keptGraphOf(store, one, program);
      const kept = graph ?? store.tensors.find(({ value }) => !value.scalar && !value.host);
      if (kept === undefined) continue;
      const { keeper, statement } = store;
      // Detaching ends it where numbers are all that is kept; anything else stays on the GPU all the same.
      const isNumber = graph !== null && store.tensors.every(({ value }) => value.scalar || value.host);
      yield {
        ...{ rule: 'step-outputs-not-cleared', severity: 'error' },
        ...{ start: statement.startIndex, end: statement.endIndex },
        message: text(
          '{0} keeps the outputs of every step of every epoch on the GPU: no epoch hook clears it. Call {0}.clear() at the end of the epoch.',
          keeper,
        ),
        chain: [
          reason(kept.expression, text('This tensor is kept, with whatever it holds.')),
          reason(statement, text('Nothing in the class clears {0} or binds it anew.', keeper)),
        ],
        fixes: !isNumber ? [] : detachFixes(kept.expression, keeper, kept.value.scalar, one.scope, program.module),
      };
    }
  },
};

function isStep({ class: owner, name }: FunctionScope): boolean {
  return owner !== null && owner.isModule && step.test(name);
}
