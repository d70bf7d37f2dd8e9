import { isRenewed } from '../flow/loops';
import type { ModuleScope } from '../scopes/module';
import type { Node } from '../syntax/node';
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
      // Beside lists that are emptied after each episode, one that never is keeps what was back-propagated as well.
      const isForgotten =
        store.keeperOf === 'object' && !store.isRenewed && hasEmptiedSibling(store, one, program.module);
      if (!isForgotten && !isRollout(store, one)) continue;
      const isSpent = isForgotten || isOnlySampled(store.keeper, program);
      const kept = keptGraphOf(store, one, program, isSpent);
      if (kept !== null) yield keptFinding('rollout-keeps-history', store, kept, one, program);
    }
  },
};

function isRollout(store: Store, one: Interpreted): boolean {
  if (rolloutName.test(store.keeper) || /Transition|Experience|Memory/.test(store.expression.text)) return true;
  return one.scope.class !== null && rolloutName.test(one.scope.class.name);
}

/** Drawn from at random, again and again: a graph in it can be back-propagated once at most, and stays. */
function isOnlySampled(keeper: string, { module }: Program): boolean {
  const reads = [...descend(module.root)].filter(
    (node) => node.type === 'call' && argumentsOf(node).some((given) => given.text === keeper),
  );
  const draws = reads.filter((call) =>
    /^random\.(sample|choices?)$/.test(call.childForFieldName('function')?.text ?? ''),
  );
  return draws.length > 0 && reads.every((call) => draws.includes(call) || call.text === `len(${keeper})`);
}

function argumentsOf(call: Node): readonly Node[] {
  return children(call.childForFieldName('arguments') ?? call);
}

/** Another list of the same object (or of the same dict in it) is filled in the same function and emptied in some other one. */
function hasEmptiedSibling({ keeper, statement }: Store, one: Interpreted, module: ModuleScope): boolean {
  const own = children(statement)[0]?.childForFieldName('function')?.childForFieldName('object')?.text;
  const siblings = new Set<string>();
  for (const node of descend(one.scope.body)) {
    if (node.type !== 'call' || !/\.append$/.test(node.childForFieldName('function')?.text ?? '')) continue;
    const list = node.childForFieldName('function')?.childForFieldName('object');
    if (!list || list.text === own) continue;
    const stem = list.type === 'subscript' ? list.childForFieldName('value') : list;
    const isSibling =
      stem?.type === 'attribute' &&
      (list.type === 'subscript' ? stem.text === keeper : children(stem)[0]?.text === keeper.split('.')[0]);
    if (isSibling) siblings.add(`${stem.childForFieldName('attribute')?.text}${list.text.slice(stem.text.length)}`);
  }
  return [...siblings].some((sibling) =>
    module.scopes.some((scope) => {
      if (starting.test(scope.name) || scope.body.type === 'module') return false;
      for (const node of descend(scope.body)) {
        const isList = node.type === 'attribute' || node.type === 'subscript';
        if (isList && node.text.endsWith(`.${sibling}`) && isRenewed(scope.body, node.text)) return true;
      }
      return false;
    }),
  );
}
