import { isRenewed } from '../flow/loops';
import type { ModuleScope } from '../scopes/module';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { keptFinding, keptGraphOf } from './keptGraph';
import type { Program, Rule } from './rule';
import { starting, storesOf, type Store } from './stores';

const rolloutName =
  /memory|replay|buffer|rollout|transition|trajector|episode|experience|log_?probs?|entrop|advantage/i;

/**
 * P21 `rollout-keeps-history`: a list of a rollout or a replay memory is fed with tensors that carry their graph and is
 * never back-propagated, often beside lists that are back-propagated and emptied after each episode.
 */
export const rolloutKeepsHistory: Rule = {
  slugs: ['rollout-keeps-history'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how !== 'append' && store.how !== 'item') continue;
      if (!isRollout(store, one, program)) continue;
      const kept = keptGraphOf(store, one, program);
      if (kept !== null) yield keptFinding('rollout-keeps-history', store, kept, one, program);
    }
  },
};

function isRollout(store: Store, one: Interpreted, { module }: Program): boolean {
  if (rolloutName.test(store.keeper) || /Transition|Experience|Memory/.test(store.expression.text)) return true;
  if (one.scope.class !== null && rolloutName.test(one.scope.class.name)) return true;
  return store.keeperOf === 'object' && !store.isRenewed && hasEmptiedSibling(store, one, module);
}

/** Another list of the same object is filled in the same function and emptied in some other one. */
function hasEmptiedSibling({ keeper }: Store, one: Interpreted, module: ModuleScope): boolean {
  const siblings = new Set<string>();
  for (const node of descend(one.scope.body)) {
    if (node.type !== 'call' || !/\.append$/.test(node.childForFieldName('function')?.text ?? '')) continue;
    const list = node.childForFieldName('function')?.childForFieldName('object');
    const isSibling =
      list?.type === 'attribute' && list.text !== keeper && children(list)[0]?.text === keeper.split('.')[0];
    if (isSibling) siblings.add(list.childForFieldName('attribute')?.text ?? '');
  }
  return [...siblings].some((attribute) =>
    module.scopes.some((scope) => {
      if (starting.test(scope.name) || scope.body.type === 'module') return false;
      for (const node of descend(scope.body)) {
        const isIt = node.type === 'attribute' && node.childForFieldName('attribute')?.text === attribute;
        if (isIt && isRenewed(scope.body, node.text)) return true;
      }
      return false;
    }),
  );
}
