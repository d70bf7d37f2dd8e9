import { noGradFix } from '../fixes/noGrad';
import { mayBeBackPropagated, ownFunctions, resultMayBeBackPropagated } from '../flow/backward';
import { backwardIn } from '../flow/training';
import { scopeAround, type ModuleScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { element, type Value } from '../values/value';
import { keptFinding, keptGraphOf } from './keptGraph';
import type { Program, Rule } from './rule';
import { storesOf, type KeptTensor, type Store } from './stores';

/**
 * P04 `inference-with-grad`: a function that trains nothing collects what a model answers while graphs are recorded, so
 * every batch's activations stay.
 */
export const inferenceWithGrad: Rule = {
  slugs: ['inference-with-grad'],
  *find(one, program) {
    for (const { store, kept } of [...collected(one, program), ...comprehended(one, program)]) {
      if (kept.value.freed !== 'no' || !isInference(kept, one, program)) continue;
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

interface Collected {
  store: Store;
  kept: KeptTensor;
}

/** What is added to a collection, round after round. */
function* collected(one: Interpreted, program: Program): Iterable<Collected> {
  for (const store of storesOf(one, program)) {
    if (store.how === 'sum' || store.how === 'average' || (store.how === 'queue' && store.keeperOf !== 'function'))
      continue;
    const kept = keptGraphOf(store, one, program);
    if (kept !== null) yield { store, kept };
  }
}

/** `[model(x) for x in loader]`, which is bound or returned and reaches no `backward()`. */
function* comprehended(one: Interpreted, program: Program): Iterable<Collected> {
  for (const { syntax: statement, own } of one.graph.points) {
    const environment = one.before.get(statement.id);
    const left = assignmentOf(statement)?.childForFieldName('left');
    const isReturn = statement.type === 'return_statement';
    if (environment === undefined || (!isReturn && left?.type !== 'identifier' && left?.type !== 'attribute')) continue;
    for (const node of own.flatMap((part) => [...descend(part)])) {
      const keeperValue = node.type === 'list_comprehension' ? one.evaluator.evaluate(node, environment) : null;
      const expression = node.childForFieldName('body');
      if (keeperValue?.kind !== 'container' || expression === null || !goesOverData(node, environment, one)) continue;
      // What `.numpy()` is called on carries no graph, or it would have raised an error.
      if (/\.numpy\(/.test(statement.text)) continue;
      const value = keeperValue.elements;
      if (value.kind !== 'tensor' || value.graph !== 'yes' || !value.full || value.output === null) continue;
      const keeper = left?.text ?? one.scope.name;
      const mayTrain = isReturn
        ? resultMayBeBackPropagated(one.scope, program.module)
        : mayBeBackPropagated(keeper, statement, one.scope, program.module);
      if (mayTrain) continue;
      const kept: KeptTensor = { expression, value, isItself: true };
      const store: Store = {
        ...{ statement, how: 'append', keeper, keeperOf: 'function', keeperValue, copies: false, expression },
        ...{ tensors: [kept], loop: node, isRenewed: false, environment },
      };
      yield { store, kept };
    }
  }
}

/** Over batches: not over the models of an ensemble, nor over a few things that are written there. */
function goesOverData(comprehension: Node, environment: Environment, one: Interpreted): boolean {
  const [clause] = children(comprehension).filter((child) => child.type === 'for_in_clause');
  const over = clause?.childForFieldName('right');
  if (!over || /^(list|tuple|set|dictionary)$/.test(over.type) || /^range\(\d\)$/.test(over.text)) return false;
  // The parts of one input need no more than the whole.
  if (/\.(chunk|split|tensor_split|unbind)$/.test(over.childForFieldName('function')?.text ?? '')) return false;
  const isModel = (value: Value): boolean =>
    value.kind === 'module' || value.kind === 'instance' || (value.kind === 'tuple' && value.items.some(isModel));
  return !isModel(element(one.evaluator.evaluate(over, environment)));
}

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
