import { statementAround } from '../syntax/statements';
import { callsOf } from '../scopes/gradMode';
import { scopeAround, type FunctionScope } from '../scopes/module';
import { calledName, callsWithin, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { argumentAt } from './keptGraph';
import type { Program } from './rule';

/** Functions behind each other, and assignments, that a key is followed through. */
const mostSteps = 12;

/**
 * Whether a key is a new one again and again: drawn at random, counted up, the index of a data set's item, a tensor. Names,
 * settings and shapes repeat, unless this file draws its shapes at random.
 */
export function keyVaries(key: Node, scope: FunctionScope, program: Program, steps = 0): boolean {
  if (steps > mostSteps) return false;
  const varies = (node: Node): boolean => keyVaries(node, scope, program, steps + 1);
  switch (key.type) {
    case 'identifier':
      return nameVaries(key, scope, program, steps);
    case 'attribute': {
      const attribute = key.childForFieldName('attribute')?.text ?? '';
      if (/^(shape|ndim)$/.test(attribute)) return drawsShapes(program);
      if (/^(device|dtype|type|name)$/.test(attribute)) return false;
      return isCounted(key.text, program);
    }
    case 'call':
      return callVaries(key, scope, program, steps);
    case 'subscript':
      return varies(key.childForFieldName('value') ?? key.children[0] ?? key);
    case 'string':
      return [...descend(key)].some((node) => node.type === 'interpolation' && children(node).some(varies));
    case 'tuple':
    case 'list':
    case 'expression_list':
    case 'binary_operator':
    case 'parenthesized_expression':
    case 'unary_operator':
      return children(key).some(varies);
    default:
      return false;
  }
}

const random =
  /^(randint|randrange|random_?|uniform_?|normal_?|gauss|rand|randn|randperm|uuid[14]|time|time_ns|perf_counter|next)$/;

function callVaries(call: Node, scope: FunctionScope, program: Program, steps: number): boolean {
  const name = calledName(call);
  const [first] = positional(call);
  const object = call.childForFieldName('function')?.childForFieldName('object') ?? null;
  if (/^(id|hash|data_ptr)$/.test(name)) return true;
  if (random.test(name)) return true;
  if (name === 'size' || name === 'numel' || (name === 'len' && object === null))
    return isOwnLength(call) || drawsShapes(program);
  if (/^(item|tolist|cpu|numpy)$/.test(name) && object !== null) return keyVaries(object, scope, program, steps + 1);
  if (/^(tuple|frozenset|str|repr|int|float|sorted)$/.test(name) && first !== undefined) {
    if (/\.(shape|size\(\))$/.test(first.text)) return drawsShapes(program);
    // As many different ones as there are combinations of what is in it.
    if (/^(tuple|frozenset|sorted)$/.test(name) && first.type === 'identifier' && scope.parameters.includes(first.text))
      return true;
    return keyVaries(first, scope, program, steps + 1);
  }
  return false;
}

/** `cache[len(cache)] = x` */
function isOwnLength(call: Node): boolean {
  const target = call.parent?.type === 'subscript' ? call.parent.childForFieldName('value') : null;
  return target !== null && positional(call)[0]?.text === target.text;
}

function nameVaries(key: Node, scope: FunctionScope, program: Program, steps: number): boolean {
  const name = key.text;
  let isBound = false;
  for (const node of descend(scope.body)) {
    if (node.type === 'augmented_assignment' && node.childForFieldName('left')?.text === name) return true;
    if (node.type !== 'assignment' && node.type !== 'for_statement') continue;
    const left = node.childForFieldName('left');
    const right = node.childForFieldName('right');
    if (left === null || right === null || !binds(left, name)) continue;
    isBound = true;
    if (node.type === 'for_statement' ? countsOn(node, name) : keyVaries(right, scope, program, steps + 1)) return true;
  }
  return !isBound && scope.parameters.includes(name) && parameterVaries(name, scope, program, steps);
}

function binds(target: Node, name: string): boolean {
  if (target.type === 'identifier') return target.text === name;
  return /pattern/.test(target.type) && children(target).some((part) => binds(part, name));
}

/** A loop whose target is a number that counts on: all of `range`, the first of `enumerate`. */
function countsOn(loop: Node, name: string): boolean {
  const [left, right] = [loop.childForFieldName('left'), loop.childForFieldName('right')];
  const over = right?.text ?? '';
  if (/^range\(\d\)$/.test(over)) return false;
  if (/^((\w+\.)?t?range|(tqdm|\w+\.tqdm)\(range|(itertools\.)?count)\(/.test(over)) return true;
  const isNumbered =
    /^(enumerate|(\w+\.)?tqdm\(enumerate)\(/.test(over) &&
    !/(modules|children|parameters|layers|blocks|items|keys)\b/.test(over);
  return isNumbered && left !== null && children(left)[0]?.text === name;
}

/** What calls give: a tensor, or a key that varies where they stand. */
function parameterVaries(name: string, scope: FunctionScope, program: Program, steps: number): boolean {
  const index = scope.parameters.indexOf(name);
  if (scope.name === '__getitem__') return index === 1;
  const shift = scope.class !== null && !scope.isStatic ? 1 : 0;
  return callsTo(scope, program).some((call) => {
    const argument = argumentAt(call, index - shift, name);
    const caller = scopeAround(call, program.module) ?? program.module.scopes[0];
    if (argument === null || caller === undefined) return false;
    return isTensor(argument, caller, program) || keyVaries(argument, caller, program, steps + 1);
  });
}

/** Calls by name; of `forward`, of objects of its class as well. */
function callsTo(scope: FunctionScope, program: Program): readonly Node[] {
  const named = callsOf(scope, program.module);
  if (scope.name !== 'forward' || scope.class === null) return named;
  const called: Node[] = [];
  for (const one of program.functions) {
    for (const call of callsWithin(one.scope.body)) {
      const target = call.childForFieldName('function');
      if (
        target === null ||
        scopeAround(call, program.module) !== (one.scope.node.type === 'module' ? null : one.scope)
      )
        continue;
      const environment = one.before.get(statementAround(call).id);
      const value = environment === undefined ? null : one.evaluator.evaluate(target, environment);
      if (value?.kind === 'instance' && value.of === scope.class) called.push(call);
    }
  }
  return [...named, ...called];
}

function isTensor(argument: Node, caller: FunctionScope, program: Program): boolean {
  const one = program.functions.find(({ scope }) => scope === caller);
  const environment = one?.before.get(statementAround(argument).id);
  return (
    one !== undefined && environment !== undefined && one.evaluator.evaluate(argument, environment).kind === 'tensor'
  );
}

/** `self.step += 1` anywhere in the file. */
function isCounted(attribute: string, { module }: Program): boolean {
  for (const node of descend(module.root)) {
    if (node.type === 'augmented_assignment' && node.childForFieldName('left')?.text === attribute) return true;
  }
  return false;
}

const shapes = new WeakMap<Program, boolean>();

/** Whether the file makes or cuts tensors, or sequences, of lengths that are drawn from a range. */
function drawsShapes(program: Program): boolean {
  let draws = shapes.get(program);
  if (draws === undefined) shapes.set(program, (draws = readDrawnShapes(program)));
  return draws;
}

const drawn = /\b(randint|randrange)\(/;
const sized = /^(rand|randn|zeros|ones|empty|full|randint|arange|range|normal)$/;

function readDrawnShapes({ module }: Program): boolean {
  for (const scope of module.scopes) {
    const names = new Set<string>();
    for (const node of descend(scope.body)) {
      const left = node.type === 'assignment' ? node.childForFieldName('left') : null;
      if (left === null || !isDrawnNumber(node.childForFieldName('right'))) continue;
      for (const name of descend(left)) if (name.type === 'identifier') names.add(name.text);
    }
    const isDrawn = (node: Node): boolean =>
      isDrawnNumber(node) || [...descend(node)].some((part) => part.type === 'identifier' && names.has(part.text));
    for (const node of descend(scope.body)) {
      if (node.type === 'slice' && children(node).some(isDrawn)) return true;
      if (node.type === 'call' && sized.test(calledName(node)) && positional(node).some(isDrawn)) return true;
    }
  }
  return false;
}

/** `random.randint(a, b)`, also several of them, and `torch.randint(…).item()`; a tensor of random numbers is none. */
function isDrawnNumber(node: Node | null): boolean {
  if (node === null || !drawn.test(node.text)) return false;
  return !/\btorch\.randint\(/.test(node.text) || /\.(item|tolist)\(\)/.test(node.text) || /\bint\(/.test(node.text);
}
