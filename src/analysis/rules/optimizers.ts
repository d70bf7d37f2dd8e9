import { descend } from '../syntax/parser';
import type { Node } from '../syntax/node';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { models, union, type Sites } from '../values/sites';
import type { Program } from './rule';

const known = new WeakMap<Program, Sites>();

/** The models that some optimizer of the file updates. */
export function optimized(program: Program): Sites {
  let sites = known.get(program);
  if (sites === undefined) known.set(program, (sites = readOptimized(program)));
  return sites;
}

function readOptimized(program: Program): Sites {
  let sites: Sites = [];
  for (const one of program.functions) {
    for (const { syntax, own } of one.graph.points) {
      const environment = one.before.get(syntax.id);
      if (environment === undefined) continue;
      for (const node of own.flatMap((part) => [...descend(part)])) {
        if (
          node.type !== 'call' ||
          !/(optim|Adam|SGD|RMSprop|Adagrad|LBFGS)/.test(node.childForFieldName('function')?.text ?? '')
        )
          continue;
        const value = one.evaluator.evaluate(node, environment);
        if (value.kind === 'holder' && value.role === 'optimizer') sites = union(sites, models(value.holds));
      }
    }
  }
  return sites;
}

/** The optimizer whose `step()` a statement calls, by what it updates; null for anything else. */
export function steppedBy(statement: Node, environment: Environment, one: Interpreted): Sites | null {
  for (const node of descend(statement)) {
    const target = node.type === 'call' ? node.childForFieldName('function') : null;
    if (target?.childForFieldName('attribute')?.text !== 'step') continue;
    const value = one.evaluator.evaluate(target.childForFieldName('object'), environment);
    if (value.kind === 'holder' && value.role === 'optimizer') return models(value.holds);
  }
  return null;
}
