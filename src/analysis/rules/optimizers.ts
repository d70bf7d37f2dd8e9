import { scopeAround } from '../scopes/module';
import { callsAt, positional } from '../syntax/calls';
import { descend } from '../syntax/parser';
import type { Node } from '../syntax/node';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { models, union, type Sites } from '../values/sites';
import { statementAround } from './keptGraph';
import type { Program } from './rule';

const known = new WeakMap<Program, Sites>();

/** The models that some optimizer of the file updates. */
export function optimized(program: Program): Sites {
  let sites = known.get(program);
  if (sites === undefined) known.set(program, (sites = readOptimized(program)));
  return sites;
}

const optimizerName = /optim|Adam|SGD|RMSprop|Adagrad|LBFGS/i;

function readOptimized(program: Program): Sites {
  let sites: Sites = [];
  for (const [name, calls] of program.module.calls) {
    if (!optimizerName.test(name)) continue;
    for (const call of calls) {
      const around = scopeAround(call, program.module) ?? program.module.scopes[0];
      const one = program.functions.find((other) => other.scope === around);
      const environment = one?.before.get(statementAround(call).id);
      if (one === undefined || environment === undefined) continue;
      const value = one.evaluator.evaluate(call, environment);
      if (value.kind === 'holder' && value.role === 'optimizer') sites = union(sites, models(value.holds));
    }
  }
  return sites;
}

const unknowing = new WeakMap<Program, boolean>();

/** Whether something takes an optimizer's `step()` that the file does not show, or an optimizer's parameters come from elsewhere. */
export function hasUnknownOptimizer(program: Program): boolean {
  let answer = unknowing.get(program);
  if (answer === undefined) unknowing.set(program, (answer = program.functions.some(stepsUnknown)));
  return answer;
}

function stepsUnknown(one: Interpreted): boolean {
  return one.graph.points.some((point) => {
    const environment = one.before.get(point.syntax.id);
    return environment !== undefined && [...callsAt(point)].some((call) => isUnknownStep(call, environment, one));
  });
}

/** `env.step(action)` is no update, `scaler.step(optimizer)` is one. */
function isUnknownStep(call: Node, environment: Environment, one: Interpreted): boolean {
  const target = call.childForFieldName('function');
  if (target?.childForFieldName('attribute')?.text !== 'step') return false;
  const [given] = positional(call);
  const value = one.evaluator.evaluate(given ?? target.childForFieldName('object'), environment);
  if (value.kind === 'holder' && value.role === 'optimizer') return models(value.holds).length === 0;
  return value.kind === 'unknown' && (given === undefined || /optim/i.test(given.text));
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
