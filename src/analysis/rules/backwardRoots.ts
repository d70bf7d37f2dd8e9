import { backwardNames } from '../flow/backward';
import { positional } from '../syntax/calls';
import { backPropagated } from '../syntax/statements';
import type { Sites } from '../values/sites';
import { callSites } from './callSites';
import type { Program } from './rule';
import { tensorOf } from './stores';

const known = new WeakMap<Program, readonly Sites[]>();

/** What each `backward()` of the file goes through: the results and the models of its graph. */
export function backwardRoots(program: Program): readonly Sites[] {
  let roots = known.get(program);
  if (roots === undefined) known.set(program, (roots = [...readRoots(program)]));
  return roots;
}

function* readRoots(program: Program): Iterable<Sites> {
  for (const { call, one, environment } of callSites((name) => backwardNames.includes(name), program)) {
    if (backPropagated(call).length === 0) continue;
    const target = call.childForFieldName('function');
    const [given] = positional(call);
    const value = one.evaluator.evaluate(given ?? target?.childForFieldName('object') ?? null, environment);
    const root = tensorOf(value);
    if (root === null || root.graph !== 'no') yield (root ?? value).holds;
  }
}
