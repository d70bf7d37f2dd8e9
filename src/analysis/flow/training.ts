import type { FunctionScope, ModuleScope } from '../scopes/module';
import { descend } from '../syntax/parser';
import type { Node } from '../syntax/node';
import { backPropagated } from '../syntax/statements';
import { ownFunctions } from './backward';

/** Whether a function back-propagates, itself or in a function of this file that it calls. */
export function backwardIn(
  scope: FunctionScope,
  module: ModuleScope,
  seen: Set<FunctionScope> = new Set(),
): boolean {
  seen.add(scope);
  for (const node of descend(scope.body)) {
    if (node.type !== 'call') continue;
    if (backPropagated(node).length > 0) return true;
    const target = node.childForFieldName('function');
    if (target === null) continue;
    if (ownFunctions(target, module).some((one) => !seen.has(one) && backwardIn(one, module, seen))) return true;
  }
  return false;
}

/** A call inside `node` that back-propagates. */
export function backwardCallIn(node: Node): Node | null {
  for (const inner of descend(node)) if (inner.type === 'call' && backPropagated(inner).length > 0) return inner;
  return null;
}
