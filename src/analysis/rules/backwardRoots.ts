import { callsAt, positional } from '../syntax/calls';
import { backPropagated } from '../syntax/statements';
import type { Sites } from '../values/sites';
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
  for (const one of program.functions) {
    for (const point of one.graph.points) {
      const environment = one.before.get(point.syntax.id);
      if (environment === undefined) continue;
      for (const node of callsAt(point)) {
        if (backPropagated(node).length === 0) continue;
        const target = node.childForFieldName('function');
        const [given] = positional(node);
        const value = one.evaluator.evaluate(given ?? target?.childForFieldName('object') ?? null, environment);
        const root = tensorOf(value);
        if (root === null || root.graph !== 'no') yield (root ?? value).holds;
      }
    }
  }
}
