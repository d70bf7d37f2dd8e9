import { text } from '../finding';
import { detachFixes } from '../fixes/detach';
import { keptGraphOf, reason } from './keptGraph';
import type { Interpreted } from '../values/interpret';
import type { Program, Rule } from './rule';
import { storesOf, type KeptTensor, type Store } from './stores';

/**
 * P29 `unbounded-cache`: tensors are put into something that lives as long as the program and that nothing empties: a
 * default argument, a class attribute, a dict of the module, a cache of a dataset.
 */
export const unboundedCache: Rule = {
  slugs: ['unbounded-cache'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.isRenewed || store.copies || !isCache(store, one, program)) continue;
      const graph = keptGraphOf(store, one, program);
      const kept = graph ?? store.tensors.find(({ value }) => !value.scalar && !value.host && value.full);
      if (kept === undefined) continue;
      yield found(store, kept, one, program);
    }
  },
};

function isCache(store: Store, { scope }: Interpreted, { module }: Program): boolean {
  if (store.how !== 'append' && store.how !== 'item') return false;
  if (store.keeperOf === 'default') return true;
  if (store.how !== 'item') return false;
  if (store.keeperOf === 'outer') return module.functions.has(scope.name) || scope.class !== null;
  return store.keeperOf === 'object' && scope.class !== null && isOfClass(store, scope.class.node.text);
}

/** `_cache = {}` in the class itself; or a dataset's, whose items are asked for again and again. */
function isOfClass({ keeper }: Store, body: string): boolean {
  const attribute = keeper.slice(keeper.lastIndexOf('.') + 1);
  const isShared = new RegExp(`^ {0,8}${attribute}\\s*(:[^=\\n]+)?=`, 'm').test(body);
  return isShared || (/cache|memo|store/i.test(attribute) && /def __getitem__/.test(body));
}

function found(store: Store, kept: KeptTensor, one: Interpreted, { module }: Program) {
  const { keeper, statement, keeperValue } = store;
  const made = keeperValue.kind === 'container' ? keeperValue.made : statement;
  return {
    ...{ rule: 'unbounded-cache', severity: 'error' as const },
    ...{ start: statement.startIndex, end: statement.endIndex },
    message: text(
      '{0} lives as long as the program and nothing empties it: every tensor put into it stays on the GPU. Bound it, or keep numbers or host copies.',
      keeper,
    ),
    chain: [
      reason(made, text('{0} is made once, here.', keeper)),
      reason(kept.expression, text('This tensor is kept, with whatever it holds.')),
    ],
    fixes: kept.value.graph === 'yes' ? detachFixes(kept.expression, keeper, kept.value.scalar, one.scope, module) : [],
  };
}
