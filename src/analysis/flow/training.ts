import { scopeAround, type FunctionScope, type ModuleScope } from '../scopes/module';
import { descend } from '../syntax/parser';
import { originOf, type Node } from '../syntax/node';
import { backPropagated } from '../syntax/statements';
import { backwardNames, ownFunctions } from './backward';

/** Whether a function back-propagates, itself or in a function of this file that it calls. */
export function backwardIn(scope: FunctionScope, module: ModuleScope): boolean {
  if (originOf(scope.node) !== originOf(module.root)) return /\bbackward\(/.test(scope.body.text);
  let found = training.get(module);
  if (found === undefined) training.set(module, (found = trainingFunctions(module)));
  return found.has(scope);
}

const training = new WeakMap<ModuleScope, ReadonlySet<FunctionScope>>();

/** From the calls of `backward` to the functions around them, and on to whoever calls those. */
function trainingFunctions(module: ModuleScope): Set<FunctionScope> {
  const found = new Set<FunctionScope>();
  const left: FunctionScope[] = [];
  const take = (call: Node): void => {
    for (let at = scopeAround(call, module); at !== null; at = at.around) {
      if (found.has(at)) return;
      found.add(at);
      left.push(at);
    }
  };
  for (const name of backwardNames) {
    for (const call of module.calls.get(name) ?? []) if (backPropagated(call).length > 0) take(call);
  }
  for (let scope = left.pop(); scope !== undefined; scope = left.pop()) {
    const called = scope.name === '__init__' && scope.class !== null ? scope.class.name : scope.name;
    const calls =
      scope.class === null || called !== scope.name ? module.calls.get(called) : module.calls.get(`.${called}`);
    for (const call of calls ?? []) take(call);
  }
  return found;
}

/** A call inside `node` that back-propagates. */
export function backwardCallIn(node: Node): Node | null {
  for (const inner of descend(node)) if (inner.type === 'call' && backPropagated(inner).length > 0) return inner;
  return null;
}

/** Whether something in `node` back-propagates, or a function of this file that is called there. */
export function trainsWithin(node: Node, module: ModuleScope): boolean {
  if (backwardCallIn(node) !== null) return true;
  for (const inner of descend(node)) {
    const target = inner.type === 'call' ? inner.childForFieldName('function') : null;
    if (target !== null && ownFunctions(target, module).some((scope) => backwardIn(scope, module))) return true;
  }
  return false;
}
