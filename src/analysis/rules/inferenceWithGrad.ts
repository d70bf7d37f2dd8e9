import { noGradFix } from '../fixes/noGrad';
import { ownFunctions } from '../flow/backward';
import { backwardIn } from '../flow/training';
import { scopeAround, type ModuleScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { keptFinding, keptGraphOf } from './keptGraph';
import type { Program, Rule } from './rule';
import { storesOf, type KeptTensor } from './stores';

/**
 * P04 `inference-with-grad`: a function that trains nothing collects what a model answers while graphs are recorded, so
 * every batch's activations stay.
 */
export const inferenceWithGrad: Rule = {
  slugs: ['inference-with-grad'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.how === 'sum' || store.how === 'average' || (store.how === 'queue' && store.keeperOf !== 'function'))
        continue;
      const kept = keptGraphOf(store, one, program);
      if (kept === null || kept.value.freed !== 'no' || !isInference(kept, one, program)) continue;
      const finding = keptFinding('inference-with-grad', store, kept, one, program);
      const decorator = noGradFix(
        one.scope,
        finding.fixes.every((fix) => fix.safe),
        program.module,
      );
      yield { ...finding, fixes: decorator === null ? finding.fixes : [decorator, ...finding.fixes] };
    }
  },
};

function isInference(kept: KeptTensor, one: Interpreted, { module }: Program): boolean {
  const { from, scalar, output } = kept.value;
  if (from === null || backwardIn(one.scope, module)) return false;
  if (!isInside(from, one.scope.body) && !callsHolderOf(from, one, module)) return false;
  return (!scalar && output !== null) || !computesLoss(one.scope.body);
}

function isInside(node: Node, body: Node): boolean {
  return body.startIndex <= node.startIndex && node.endIndex <= body.endIndex;
}

/** The model is called in a function that this one calls. */
function callsHolderOf(from: Node, one: Interpreted, module: ModuleScope): boolean {
  const holder = scopeAround(from, module);
  for (const node of descend(one.scope.body)) {
    const target = node.type === 'call' ? node.childForFieldName('function') : null;
    if (target !== null && holder !== null && ownFunctions(target, module).includes(holder)) return true;
  }
  return false;
}

function computesLoss(body: Node): boolean {
  for (const node of descend(body)) {
    if (
      node.type === 'call' &&
      /loss|criterion|cross_entropy|elbo/i.test(node.childForFieldName('function')?.text ?? '')
    )
      return true;
  }
  return false;
}
