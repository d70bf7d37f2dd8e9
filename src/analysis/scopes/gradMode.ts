import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { decoratorsOf, dottedName, isAutogradFunction, type FunctionScope, type ModuleScope } from './module';

/** Whether autograd records: `maybe` where it depends on what only the running program knows. */
export type GradMode = 'yes' | 'no' | 'maybe';

const off = /^torch\.(autograd\.(grad_mode\.)?)?(no_grad|inference_mode)$/;
const on = /^torch\.(autograd\.(grad_mode\.)?)?enable_grad$/;
const speaksOfIt = /no_grad|inference_mode|grad_enabled|inference_context|disable_grad/;

/** Whether graphs are recorded at `node`: by the `with` around it, its function's decorators, and who calls that. */
export function gradMode(node: Node, module: ModuleScope, seen: ReadonlySet<number> = new Set()): GradMode {
  if (switchedOffBefore(node, module)) return 'no';
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (at.type === 'with_statement') {
      const mode = withMode(at, node, module);
      if (mode !== null) return mode;
    }
    if (at.type === 'function_definition') return functionMode(at, module, seen);
  }
  return 'yes';
}

/** `torch.no_grad()` as an expression: it changes the mode of what it is put around. */
export function turnsGradOff(expression: Node, module: ModuleScope): boolean {
  return modeOf(expression, module) === 'no';
}

/**
 * `torch.set_grad_enabled(False)` as a statement: from there on in its function, anywhere from the top level (that has
 * run when functions do). Any argument but `True` counts.
 */
function switchedOffBefore(node: Node, module: ModuleScope): boolean {
  if (!module.calls.has('.set_grad_enabled') && !module.calls.has('set_grad_enabled')) return false;
  const calls = ['.set_grad_enabled', 'set_grad_enabled'].flatMap((name) => module.calls.get(name) ?? []);
  return calls.some((call) => {
    if (call.parent?.type !== 'expression_statement' || call.childForFieldName('arguments')?.text === '(True)')
      return false;
    const around = functionAround(call);
    return around === null || (call.startIndex < node.startIndex && around === functionAround(node));
  });
}

export function functionAround(node: Node): Node | null {
  let at = node.parent;
  while (at !== null && at.type !== 'function_definition') at = at.parent;
  return at;
}

/** Answers by the function's definition. */
const known = new WeakMap<Node, GradMode>();

function functionMode(definition: Node, module: ModuleScope, seen: ReadonlySet<number>): GradMode {
  const answer = known.get(definition);
  if (answer !== undefined) return answer;
  const mode = readFunctionMode(definition, module, seen);
  // In a circle of calls nobody is taken to be called with recording off.
  known.set(definition, mode);
  return mode;
}

function readFunctionMode(definition: Node, module: ModuleScope, seen: ReadonlySet<number>): GradMode {
  for (const decorator of decoratorsOf(definition)) {
    const mode = modeOf(decorator, module) ?? (isOwnSwitch(decorator, module) ? 'no' : null);
    if (mode !== null) return mode;
  }
  const scope = module.scopeOf.get(definition.id);
  if (scope === undefined) return 'yes';
  if (isFrameworkEvaluation(scope)) return 'no';
  return calledOffOnly(scope, module, seen) ? 'no' : 'yes';
}

/** A decorator of this file, or an imported one, that switches recording off around what it decorates. */
function isOwnSwitch(decorator: Node, module: ModuleScope): boolean {
  const target = decorator.type === 'call' ? decorator.childForFieldName('function') : decorator;
  if (target === null) return false;
  const own = module.functions.get(target.text);
  if (own !== undefined) return speaksOfIt.test(own.body.text);
  return speaksOfIt.test(target.text);
}

/** Functions that Lightning, the Hugging Face Trainer and autograd itself call with recording off. */
function isFrameworkEvaluation({ class: owner, name }: FunctionScope): boolean {
  if (owner === null) return false;
  const bases = [...owner.bases];
  if (isAutogradFunction(owner)) return true;
  const isLightning =
    bases.some((base) => /LightningModule$/.test(base)) ||
    (owner.isModule && owner.methods.has('configure_optimizers'));
  if (isLightning && /^(validation|test|predict)_(step|epoch_end)$|^on_(validation|test|predict)_/.test(name))
    return true;
  const isTrainer = bases.some((base) => /Trainer$/.test(base));
  return isTrainer && /^(prediction_step|evaluation_loop|prediction_loop)$/.test(name);
}

/** The mode that a `with` sets at `node` inside it; null where it sets none. */
function withMode(statement: Node, node: Node, module: ModuleScope): GradMode | null {
  const clause = children(statement).find((child) => child.type === 'with_clause');
  // The items themselves are evaluated before the mode changes.
  if (clause === undefined || node.startIndex < clause.endIndex) return null;
  for (const item of children(clause).toReversed()) {
    const value = item.childForFieldName('value') ?? item;
    const expression = value.type === 'as_pattern' ? children(value)[0] : value;
    if (expression === undefined) continue;
    const mode = modeOf(expression, module) ?? (mayTurnOff(expression) ? 'maybe' : null);
    if (mode !== null) return mode;
  }
  return null;
}

/** `torch.no_grad`, called or (as a decorator) not; `torch.set_grad_enabled(…)`; null for anything else. */
function modeOf(expression: Node, module: ModuleScope): GradMode | null {
  const target = expression.type === 'call' ? expression.childForFieldName('function') : expression;
  const name = target === null ? null : dottedName(target, module.imports);
  if (name === null) return null;
  const first = expression.type === 'call' ? expression.childForFieldName('arguments')?.text : undefined;
  if (name.endsWith('.set_grad_enabled')) return first === '(False)' ? 'no' : first === '(True)' ? 'yes' : 'maybe';
  if (off.test(name))
    return first === undefined || first === '()' || first === '(True)' ? 'no' : first === '(False)' ? null : 'maybe';
  return on.test(name) ? 'yes' : null;
}

/** `no_grad() if evaluating else nullcontext()`, or a name that something like it was assigned to. */
function mayTurnOff(expression: Node): boolean {
  if (speaksOfIt.test(expression.text)) return true;
  if (expression.type !== 'identifier') return false;
  const scope = functionAround(expression);
  let root: Node = expression;
  while (root.parent !== null) root = root.parent;
  for (const node of descend(scope ?? root)) {
    if (node.type !== 'assignment' || node.childForFieldName('left')?.text !== expression.text) continue;
    if (speaksOfIt.test(node.childForFieldName('right')?.text ?? '')) return true;
  }
  return false;
}

function calledOffOnly(scope: FunctionScope, module: ModuleScope, seen: ReadonlySet<number>): boolean {
  if (seen.has(scope.node.id)) return false;
  const calls = callsOf(scope, module);
  if (calls.length === 0) return false;
  const further = new Set([...seen, scope.node.id]);
  return calls.every((call) => gradMode(call, module, further) === 'no');
}

/** `torch.stack(…)` is no call of a method `stack` of this file. */
export function isOfLibrary(target: Node | null, { imports }: ModuleScope): boolean {
  return target !== null && /^(torch|numpy|math|random)\./.test(dottedName(target, imports) ?? '');
}

/** Calls in this file by the function's own name (`evaluate(…)`), as a method (`x.evaluate(…)`), or of `self` itself. */
export function callsOf(scope: FunctionScope, module: ModuleScope): Node[] {
  if (scope.class === null) return module.calls.get(scope.name) ?? [];
  const byName = (module.calls.get(`.${scope.name}`) ?? []).filter(
    (call) => !isOfLibrary(call.childForFieldName('function'), module),
  );
  if (scope.name !== '__call__' && scope.name !== 'forward') return byName;
  const { node } = scope.class;
  const ofSelf = (module.calls.get('self') ?? []).filter(
    (call) => node.startIndex < call.startIndex && call.endIndex <= node.endIndex,
  );
  return [...byName, ...ofSelf];
}
