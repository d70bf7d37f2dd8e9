import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import { dottedName, type FunctionScope, type ModuleScope } from './module';

const off = new Set(['torch.no_grad', 'torch.inference_mode', 'torch.autograd.no_grad']);

/**
 * Whether graphs are surely not recorded at `node`: it stands in a `with torch.no_grad()`, or in a function that is
 * decorated so, or that is called from such places only.
 */
export function gradIsOff(node: Node, module: ModuleScope, seen: ReadonlySet<number> = new Set()): boolean {
  if (switchedOffBefore(node, module)) return true;
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (at.type === 'with_statement' && withTurnsOff(at, node, module)) return true;
    if (at.type !== 'function_definition') continue;
    return functionIsOff(at, module, seen);
  }
  return false;
}

/**
 * `torch.set_grad_enabled(False)` as a statement: from there on in its function, anywhere from the top level (that has
 * run when functions do). Any argument but `True` counts.
 */
function switchedOffBefore(node: Node, module: ModuleScope): boolean {
  const calls = ['.set_grad_enabled', 'set_grad_enabled'].flatMap((name) => module.calls.get(name) ?? []);
  return calls.some((call) => {
    if (call.parent?.type !== 'expression_statement' || call.childForFieldName('arguments')?.text === '(True)')
      return false;
    const around = functionAround(call);
    return around === null || (call.startIndex < node.startIndex && around === functionAround(node));
  });
}

function functionAround(node: Node): Node | null {
  let at = node.parent;
  while (at !== null && at.type !== 'function_definition') at = at.parent;
  return at;
}

function functionIsOff(definition: Node, module: ModuleScope, seen: ReadonlySet<number>): boolean {
  const known = module.gradOff.get(definition.id);
  if (known !== undefined) return known;
  const scope = module.scopeOf.get(definition.id);
  const off = decoratorTurnsOff(definition, module) || (scope !== undefined && calledOffOnly(scope, module, seen));
  // An answer from inside a circle of calls holds for that question only.
  if (seen.size === 0) module.gradOff.set(definition.id, off);
  return off;
}

function withTurnsOff(statement: Node, node: Node, module: ModuleScope): boolean {
  const clause = children(statement).find((child) => child.type === 'with_clause');
  // The items themselves are evaluated before the mode changes.
  if (clause === undefined || node.startIndex < clause.endIndex) return false;
  return children(clause).some((item) => {
    const value = item.childForFieldName('value') ?? item;
    const called = value.type === 'as_pattern' ? children(value)[0] : value;
    return called !== undefined && turnsOff(called, module);
  });
}

function decoratorTurnsOff(definition: Node, module: ModuleScope): boolean {
  const outer = definition.parent;
  if (outer?.type !== 'decorated_definition') return false;
  return children(outer).some((child) => {
    const expression = child.type === 'decorator' ? children(child)[0] : undefined;
    return expression !== undefined && turnsOff(expression, module);
  });
}

/** `torch.no_grad`, called or (as a decorator) not; `torch.set_grad_enabled(False)`. */
function turnsOff(expression: Node, module: ModuleScope): boolean {
  const target = expression.type === 'call' ? expression.childForFieldName('function') : expression;
  const name = target === null ? null : dottedName(target, module.imports);
  if (name === null) return false;
  const first = expression.type === 'call' ? expression.childForFieldName('arguments')?.text : undefined;
  if (name === 'torch.set_grad_enabled') return first === '(False)';
  return off.has(name) && first !== '(False)';
}

function calledOffOnly(scope: FunctionScope, module: ModuleScope, seen: ReadonlySet<number>): boolean {
  if (seen.has(scope.node.id)) return false;
  const calls = callsOf(scope, module);
  const further = new Set([...seen, scope.node.id]);
  return calls.length > 0 && calls.every((call) => gradIsOff(call, module, further));
}

/** Calls in this file by the function's own name (`evaluate(…)`) or as a method (`x.evaluate(…)`). */
export function callsOf(scope: FunctionScope, module: ModuleScope): Node[] {
  return module.calls.get(scope.class === null ? scope.name : `.${scope.name}`) ?? [];
}
