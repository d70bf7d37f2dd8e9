import { callsOf } from '../scopes/gradMode';
import { scopeAround, type FunctionScope, type ModuleScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { loopsAround } from './loops';

export function isInside(node: Node, around: Node): boolean {
  return around.startIndex <= node.startIndex && node.endIndex <= around.endIndex;
}

/** Whether a loop runs a function, through functions of this file: the constructor where it is one. */
export function runsIn(
  scope: FunctionScope,
  loop: Node,
  module: ModuleScope,
  seen: Set<FunctionScope> = new Set(),
): boolean {
  seen.add(scope);
  return callsThatRun(scope, module).some((call) => {
    if (isInside(call, loop)) return true;
    const around = scopeAround(call, module);
    return around !== null && !seen.has(around) && runsIn(around, loop, module, seen);
  });
}

/** The constructor's calls are those of its class. */
function callsThatRun(scope: FunctionScope, module: ModuleScope): readonly Node[] {
  if (scope.name !== '__init__' || scope.class === null) return callsOf(scope, module);
  return module.calls.get(scope.class.name) ?? [];
}

/** Calls of one function that are followed, and functions behind each other. */
const mostCallers = 4;

/**
 * Loops around a place, innermost first, those around the calls of its function behind them: one list for each way that
 * the calls of this file lead there.
 */
export function loopPaths(place: Node, module: ModuleScope, depth = 0): Node[][] {
  const here = loopsAround(place);
  const scope = scopeAround(place, module);
  const calls = scope === null || depth === mostCallers ? [] : callsThatRun(scope, module);
  if (calls.length === 0) return [here];
  return calls
    .slice(0, mostCallers)
    .flatMap((call) => loopPaths(call, module, depth + 1).map((further) => [...here, ...further]));
}
