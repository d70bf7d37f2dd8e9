import type { FunctionScope, ModuleScope } from '../scopes/module';
import { descend } from '../syntax/parser';
import type { Node } from '../syntax/node';
import { backPropagated } from '../syntax/statements';
import { backPropagatesAnything, ownFunctions } from './backward';

/** Whether a function back-propagates, itself or in a function of this file that it calls. */
export function backwardIn(scope: FunctionScope, module: ModuleScope): boolean {
  if (!backPropagatesAnything(module)) return false;
  let found = known.get(scope);
  if (found === undefined) known.set(scope, (found = readBackward(scope, module, new Set())));
  return found;
}

const known = new WeakMap<FunctionScope, boolean>();

function readBackward(scope: FunctionScope, module: ModuleScope, seen: Set<FunctionScope>): boolean {
  seen.add(scope);
  for (const node of descend(scope.body)) {
    if (node.type !== 'call') continue;
    if (backPropagated(node).length > 0) return true;
    const target = node.childForFieldName('function');
    if (target === null) continue;
    if (ownFunctions(target, module).some((one) => !seen.has(one) && readBackward(one, module, seen))) return true;
  }
  return false;
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
