import { positional } from '../syntax/calls';
import { descend } from '../syntax/parser';
import type { Node } from '../syntax/node';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { models, union, type Sites } from '../values/sites';
import { callSites } from './callSites';
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
  for (const { call, one, environment } of callSites((name) => optimizerName.test(name), program)) {
    const value = one.evaluator.evaluate(call, environment);
    if (value.kind === 'holder' && value.role === 'optimizer') sites = union(sites, models(value.holds));
  }
  return sites;
}

const unknowing = new WeakMap<Program, boolean>();

/** Whether something takes an optimizer's `step()` that the file does not show, or an optimizer's parameters come from elsewhere. */
export function hasUnknownOptimizer(program: Program): boolean {
  let answer = unknowing.get(program);
  if (answer === undefined) {
    const steps = [...callSites((name) => name === '.step', program)];
    answer = steps.some(({ call, one, environment }) => isUnknownStep(call, environment, one));
    unknowing.set(program, answer);
  }
  return answer;
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
