import {
  assignedBefore,
  carryingLoops,
  firstAssignment,
  isCalledAgain,
  isEmptied,
  isRenewed,
  loopsAround,
  mentions,
} from '../flow/loops';
import { callsOf } from '../scopes/gradMode';
import type { Node } from '../syntax/node';
import { scopeAround, type FunctionScope, type ModuleScope } from '../scopes/module';
import { children, descend } from '../syntax/parser';
import { assignmentOf, namesIn } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { element, type TensorValue, type Value } from '../values/value';
import { keyVaries as isNewKey } from './cacheKey';
import { hookGrows } from './hookGrowth';
import type { Program } from './rule';

/** How a statement keeps something: added up, averaged into, put at one end of a queue, added to a collection. */
export type How = 'sum' | 'average' | 'queue' | 'append' | 'item';

/** Whose the keeper is: it lives as long as that. */
export type KeeperOf = 'function' | 'object' | 'default' | 'outer' | 'parameter';

/** A statement that keeps a value beyond the round of a loop, or beyond a call of a function that runs again. */
export interface Store {
  statement: Node;
  how: How;
  /** Name or dotted name of what keeps, without subscripts. */
  keeper: string;
  keeperOf: KeeperOf;
  keeperValue: Value;
  /** It is a tensor that values are written into: their numbers (and graphs) go there, not they themselves. */
  copies: boolean;
  /** What is kept, as it is written. */
  expression: Node;
  /** The tensors in it: of a tuple or dict that is written there, each with its own expression. */
  tensors: readonly KeptTensor[];
  /** The loop over whose rounds it lives; null where the function itself runs again and again. */
  loop: Node | null;
  /** Some function empties it or binds it anew, though not within the loop. */
  isRenewed: boolean;
  environment: Environment;
}

export interface KeptTensor {
  expression: Node;
  /** The expression is the tensor itself, not a collection with it inside. */
  isItself: boolean;
  value: TensorValue;
}

const known = new WeakMap<Interpreted, readonly Store[]>();

/** Every store of a function. Keepers that are emptied, bounded or bound anew in every round are no stores. */
export function storesOf(one: Interpreted, program: Program): readonly Store[] {
  let stores = known.get(one);
  if (stores === undefined) known.set(one, (stores = [...readStores(one, program)]));
  return stores;
}

function* readStores(one: Interpreted, program: Program): Iterable<Store> {
  for (const point of one.graph.points) {
    const environment = one.before.get(point.syntax.id);
    if (environment === undefined) continue;
    const written = writtenAt(point.syntax, one, environment);
    if (written === null) continue;
    const { how, target, expression } = written;
    const stem = stemOf(target);
    if (stem === null) continue;
    const keeper = stem.text;
    const keeperValue = one.evaluator.evaluate(target, environment);
    const stemValue = one.evaluator.evaluate(stem, environment);
    if (!isKeeping(how, stemValue, target)) continue;
    const rebinds = how !== 'append' && how !== 'item';
    const owner = ownerOf(stem, one);
    const keeperOf = rebinds && owner === 'parameter' ? 'function' : owner;
    // A list in a dict may be emptied under its own key.
    const renewedAs = how === 'append' ? target.text : keeper;
    const kept = carryingLoops(point.syntax, renewedAs);
    const loop =
      carryingLoops(point.syntax, keeper).find(
        (around) => kept.includes(around) && !isShort(around, one, environment),
      ) ?? null;
    if (loop === null && (keeperOf === 'function' || !isCalledAgain(one.scope, program.module, program.isHook)))
      continue;
    if (loop === null && (isRenewed(one.scope.body, keeper) || isRenewed(one.scope.body, renewedAs))) continue;
    const isHook = keeperOf !== 'function' && program.isHook(one.scope);
    const made = stemValue.kind === 'container' ? stemValue.made : null;
    if (isHook && !hookGrows({ stem, made }, one, program)) continue;
    const renewals =
      keeperOf === 'object' && !isHook ? renewingFunctions(stem, how === 'append' ? target : stem, program.module) : [];
    const renewed = renewals.length > 0;
    if (isOnce(point.syntax, loop)) continue;
    if (renewed && loop !== null && callsWithin(loop, renewals)) continue;
    if (renewed && loop === null && !growsBetween(one, renewals, stem, program)) continue;
    if (how === 'item' && !keyVaries(target, loop, one, program)) continue;
    yield {
      ...{ statement: point.syntax, how, keeper, keeperOf, keeperValue, expression, loop, environment },
      isRenewed: renewed,
      copies: stemValue.kind === 'tensor',
      tensors: [...tensorsIn(expression, one, environment)],
    };
  }
}

/** What a statement adds to something, whether or not that lives on. */
export function writtenAt(statement: Node, one: Interpreted, environment: Environment): Written | null {
  return additionTo(statement, one, environment) ?? callOn(statement);
}

/** A loop over the layers of a model, or over what is written there: it has few rounds. */
function isShort(loop: Node, one: Interpreted, environment: Environment): boolean {
  const over = loop.childForFieldName('right');
  if (over === null) return false;
  if (['list', 'tuple', 'set', 'dictionary'].includes(over.type)) return true;
  // Epochs in a short script stand for many.
  if (/^range\(\d\)$/.test(over.text)) return !/^epochs?$/.test(loop.childForFieldName('left')?.text ?? '');
  // One round per process of a job.
  if (/^range\(([\w.]+\.)?(num_gpus|n_gpus?|world_size|get_world_size\(\))\)$/.test(over.text)) return true;
  const isModule = (value: Value): boolean =>
    value.kind === 'module' ||
    (value.kind === 'instance' && value.of.isModule) ||
    (value.kind === 'tuple' && value.items.some(isModule));
  return isModule(element(one.evaluator.evaluate(over, environment)));
}

const once = /^\(?\s*[\w.]+\s*(==|<|<=|is)\s*[\d]+\s*\)?$/;

/** Behind `if step == 0:` or `if batch_i < 3:` it happens a few times, not in every round. */
function isOnce(statement: Node, loop: Node | null): boolean {
  for (let at: Node | null = statement; at !== null && at !== loop; at = at.parent) {
    if (at.type === 'function_definition') return false;
    if (at.type !== 'if_statement') continue;
    const condition = at.childForFieldName('condition')?.text ?? '';
    const isIn = statement.startIndex < (at.childForFieldName('consequence')?.endIndex ?? 0);
    if (isIn && condition.split(/\band\b/).some((part) => once.test(part.trim()))) return true;
  }
  return false;
}

/** A collection must be one; a deque with `maxlen` drops what is old. A literal key is one slot, overwritten. */
function isKeeping(how: How, value: Value, target: Node): boolean {
  if (how === 'sum' || how === 'average' || how === 'queue') return true;
  // Writing into a tensor that carries no graph gives it one.
  if (how === 'item' && value.kind === 'tensor' && value.graph !== 'yes') return true;
  if (value.kind !== 'container' || value.bounded) return false;
  if (how !== 'item') return true;
  const key = children(target)[1];
  if (key?.type === 'string') return children(key).some((part) => part.type === 'interpolation');
  return key !== undefined && !['integer', 'slice'].includes(key.type);
}

export interface Written {
  how: How;
  target: Node;
  expression: Node;
}

/** `t += x`, `t = t + x`, `t = a * t + b * x`, `t = cat([t, x])`, `c[k] = x`. */
function additionTo(statement: Node, one: Interpreted, environment: Environment): Written | null {
  const assignment = statement.type === 'expression_statement' ? assignmentOf(statement) : null;
  const target = assignment?.childForFieldName('left');
  const right = assignment?.childForFieldName('right');
  if (!assignment || !target || !right) return null;
  if (assignment.type === 'augmented_assignment') {
    const operator = assignment.childForFieldName('operator')?.text;
    if (operator !== '+=' && operator !== '-=') return null;
    if (one.evaluator.evaluate(target, environment).kind === 'container') {
      const [item] = right.type === 'list' || right.type === 'tuple' ? children(right) : [right];
      return item === undefined ? null : { how: 'append', target, expression: item };
    }
    return { how: 'sum', target, expression: right };
  }
  const isName = target.type === 'identifier' || target.type === 'attribute';
  if (isName && mentions(right, target.text)) return rebuilt(right, target);
  if (target.type === 'subscript' && mentionsText(right, target.text)) return rebuilt(right, target);
  const before = right.type === 'identifier' ? assignedBefore(statement, right.text) : null;
  if (before !== null && mentionsText(before, target.text)) {
    const written = rebuilt(before, target);
    return written === null ? null : { ...written, expression: right };
  }
  const old = target.type === 'identifier' ? null : oldNameIn(before ?? right, statement, target.text);
  const written = old === null ? null : rebuilt(before ?? right, old);
  if (written?.how === 'average') return { how: 'average', target, expression: right };
  return target.type === 'subscript' ? { how: 'item', target, expression: right } : null;
}

/** A name in an expression that was given the last value of `target` before: `old = self.mean`, also on another device. */
function oldNameIn(expression: Node, statement: Node, target: string): Node | null {
  for (const node of descend(expression)) {
    const given = node.type === 'identifier' ? assignedBefore(statement, node.text) : null;
    if (given !== null && (given.text === target || isMoved(given, target))) return node;
  }
  return null;
}

function isMoved(value: Node, target: string): boolean {
  const called = value.type === 'call' ? value.childForFieldName('function') : null;
  return (
    called?.childForFieldName('object')?.text === target &&
    /^(to|cuda|cpu|float|half|type|type_as|clone)$/.test(called.childForFieldName('attribute')?.text ?? '')
  );
}

/** A new value for `target` that is made of its old one. */
function rebuilt(right: Node, target: Node): Written | null {
  const name = target.text;
  if (right.type === 'conditional_expression') {
    const [yes, , no] = children(right);
    const branch = [yes, no].find((one) => one !== undefined && mentionsText(one, name));
    const inner = branch === undefined ? null : rebuilt(branch, target);
    return inner;
  }
  if (right.type === 'parenthesized_expression') return rebuilt(children(right)[0] as Node, target);
  if (right.type === 'list_comprehension' || right.type === 'dictionary_comprehension') return averaged(right, target);
  if (right.type === 'binary_operator') {
    const operator = right.childForFieldName('operator')?.text;
    const [a, b] = [right.childForFieldName('left'), right.childForFieldName('right')];
    if (!a || !b || (operator !== '+' && operator !== '-')) return null;
    if (a.text === name && !mentionsText(b, name)) return { how: 'sum', target, expression: b };
    if (b.text === name && !mentionsText(a, name)) return { how: 'sum', target, expression: a };
    const [old, fresh] = mentionsText(a, name) ? [a, b] : [b, a];
    if (mentionsText(fresh, name)) return { how: 'average', target, expression: right };
    return isScaled(old, name) ? { how: 'average', target, expression: fresh } : null;
  }
  const call = callInside(right);
  const called = call?.childForFieldName('function')?.text ?? '';
  if (/(^|\.)(cat|concat|vstack|hstack|stack)$/.test(called)) {
    const list = children(call?.childForFieldName('arguments') ?? right)[0];
    const parts = list === undefined ? [] : children(list);
    const fresh = parts.find((part) => !mentionsText(part, name));
    return fresh === undefined ? null : { how: 'queue', target, expression: fresh };
  }
  if (/(^|\.)lerp_?$/.test(called)) {
    const fresh = children(call?.childForFieldName('arguments') ?? right).find((part) => !mentionsText(part, name));
    return fresh === undefined ? null : { how: 'average', target, expression: fresh };
  }
  return null;
}

/** `[d * s + (1 - d) * p for s, p in zip(t, …)]`: every element is averaged with its last value. */
function averaged(comprehension: Node, target: Node): Written | null {
  const body = comprehension.childForFieldName('body');
  const sum = body?.childForFieldName('value') ?? body;
  const isSum = sum?.type === 'binary_operator' && sum.childForFieldName('operator')?.text === '+';
  return isSum && sum.text.includes('*') ? { how: 'average', target, expression: comprehension } : null;
}

/** `0.9 * t`, `t * 0.9`, `(1 - a) * t`, `t`. */
function isScaled(node: Node, name: string): boolean {
  if (node.type === 'parenthesized_expression') return isScaled(children(node)[0] as Node, name);
  return (
    node.text === name ||
    (node.type === 'binary_operator' && /^[*/]$/.test(node.childForFieldName('operator')?.text ?? ''))
  );
}

/** The call that an expression is, subscripts and methods that cut its result aside. */
function callInside(node: Node): Node | null {
  if (node.type === 'subscript') return callInside(node.childForFieldName('value') as Node);
  if (node.type !== 'call') return null;
  const target = node.childForFieldName('function');
  const object = target?.childForFieldName('object');
  const isWrapped =
    object?.type === 'call' && !/lerp|cat|stack/.test(target?.childForFieldName('attribute')?.text ?? '');
  return isWrapped ? callInside(object) : node;
}

function mentionsText(node: Node, name: string): boolean {
  for (const inner of descend(node)) if (inner.text === name) return true;
  return false;
}

const adding = /^(append|appendleft|extend|add|insert|put|put_nowait|push|update)$/;

/** `list.append(x)` and the like as a statement. */
function callOn(statement: Node): Written | null {
  // The body of a lambda is no statement.
  const call = statement.type === 'expression_statement' ? children(statement)[0] : statement;
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  const collection = target?.type === 'attribute' ? target.childForFieldName('object') : null;
  if (!call || !collection || !adding.test(target?.childForFieldName('attribute')?.text ?? '')) return null;
  const expression = children(call.childForFieldName('arguments') ?? call).at(-1);
  if (expression === undefined) return null;
  return { how: 'append', target: collection, expression };
}

/** The name or attribute that `history["train"][-1]` begins with. */
function stemOf(target: Node): Node | null {
  let at: Node | null = target;
  while (at?.type === 'subscript') at = at.childForFieldName('value');
  if (at?.type === 'call' && /setdefault|get/.test(at.childForFieldName('function')?.text ?? ''))
    return at.childForFieldName('function')?.childForFieldName('object') ?? null;
  return at?.type === 'identifier' || at?.type === 'attribute' ? at : null;
}

function ownerOf(stem: Node, one: Interpreted): KeeperOf {
  if (stem.type === 'attribute') return 'object';
  const { scope } = one;
  if (scope.parameters.includes(stem.text)) return hasDefault(stem.text, scope.node) ? 'default' : 'parameter';
  if (scope.body.type === 'module') return 'function';
  for (const node of descend(scope.body, (inner) => inner.type !== 'function_definition' && inner.type !== 'lambda')) {
    if (node.type === 'global_statement' || node.type === 'nonlocal_statement') {
      if (children(node).some((name) => name.text === stem.text)) return 'outer';
    }
    const left = node.type === 'assignment' || node.type === 'for_statement' ? node.childForFieldName('left') : null;
    if (left !== null && mentions(left, stem.text) && left.type !== 'subscript' && left.type !== 'attribute')
      return 'function';
    if (node.type === 'as_pattern_target' && node.text === stem.text) return 'function';
    if (node.type === 'named_expression' && node.childForFieldName('name')?.text === stem.text) return 'function';
  }
  return 'outer';
}

function hasDefault(name: string, definition: Node): boolean {
  const list = definition.childForFieldName('parameters');
  return (list === null ? [] : children(list)).some(
    (one) =>
      one.type.includes('default') &&
      one.childForFieldName('name')?.text === name &&
      /^(list|dictionary|set|call)$/.test(one.childForFieldName('value')?.type ?? ''),
  );
}

/** They run once, before everything else. */
export const starting =
  /^(__init__|__post_init__|setup|build|before_fit|begin_fit|on_(fit|train|training)_(start|begin))$/;

/** Functions but the constructor that clear, cut or bind the attribute anew, under any name of the object. */
function renewingFunctions(stem: Node, target: Node, module: ModuleScope): FunctionScope[] {
  const attribute = stem.childForFieldName('attribute')?.text ?? '';
  const suffix = target.text.slice(stem.text.length);
  return module.scopes.filter((scope) => {
    if (starting.test(scope.name) || scope.body.type === 'module') return false;
    const objects = new Set<string>();
    for (const node of descend(scope.body)) {
      if (node.type === 'attribute' && node.childForFieldName('attribute')?.text === attribute) objects.add(node.text);
    }
    return [...objects].some((object) =>
      [object, object + suffix].some((name) => isRenewed(scope.body, name) || isEmptied(scope.body, name)),
    );
  });
}

/** Whether one of the functions is called inside a loop. */
function callsWithin(loop: Node, functions: readonly FunctionScope[]): boolean {
  const names = new Set(functions.map((scope) => scope.name));
  for (const node of descend(loop)) {
    if (node.type !== 'call') continue;
    const target = node.childForFieldName('function');
    if (names.has(target?.childForFieldName('attribute')?.text ?? target?.text ?? '')) return true;
  }
  return false;
}

/**
 * Whether a function that keeps something is called round after round of a loop that does not empty the keeper. Where no
 * loop of this file calls it, whoever empties the keeper is taken to do so in time.
 */
function growsBetween(one: Interpreted, renewals: readonly FunctionScope[], stem: Node, program: Program): boolean {
  const attribute = stem.childForFieldName('attribute')?.text ?? '';
  const seen = new Set<FunctionScope>();
  const grows = (scope: FunctionScope): boolean => {
    if (seen.has(scope)) return false;
    seen.add(scope);
    return callsOf(scope, program.module).some((call) => {
      const [loop] = loopsAround(call);
      const around = scopeAround(call, program.module);
      if (loop !== undefined) {
        const isIn = callsWithin(loop, renewals) || renewsAny(loop, attribute);
        return !isIn && !isRenewedAfter(loop, around?.body ?? program.module.root, renewals, attribute);
      }
      return around !== null && !renewals.includes(around) && grows(around);
    });
  };
  return grows(one.scope);
}

/** Emptied once the loop is over: what it gathered was for that. */
function isRenewedAfter(loop: Node, body: Node, renewals: readonly FunctionScope[], attribute: string): boolean {
  for (let at: Node | null = loop; at !== null && at !== body; at = at.parent) {
    const block: Node[] = at.parent === null ? [] : children(at.parent);
    const later = block.slice(block.indexOf(at) + 1);
    if (later.some((one) => callsWithin(one, renewals) || renewsAny(one, attribute))) return true;
  }
  return false;
}

function renewsAny(inside: Node, attribute: string): boolean {
  for (const node of descend(inside)) {
    if (node.type !== 'attribute' || node.childForFieldName('attribute')?.text !== attribute) continue;
    if (isRenewed(inside, node.text)) return true;
  }
  return false;
}

const keyed = /\.(items|keys|named_parameters|named_modules|named_children|parameters|state_dict)\(/;

/** Whether each round has a key of its own; a slot per name or per layer is overwritten. */
function keyVaries(target: Node, loop: Node | null, one: Interpreted, program: Program): boolean {
  const key = children(target)[1];
  if (key === undefined) return false;
  // `f"{name}/loss"` is a slot per name.
  if (key.type === 'string') return isNewKey(key, one.scope, program);
  const names = namesIn(key);
  if (loop !== null) {
    const over = loop.childForFieldName('right');
    if (over !== null && (keyed.test(over.text) || ['list', 'tuple', 'set', 'dictionary'].includes(over.type)))
      return false;
    return names.some((name) => isRenewed(loop, name) || countsUp(loop, name)) || /\blen\(/.test(key.text);
  }
  if (program.isHook(one.scope)) return false;
  const given = (name: string): boolean =>
    one.scope.parameters.includes(name) && (name !== one.scope.parameters[0] || one.scope.class === null);
  return names.some(given) || countsUp(one.scope.body, key.text) || isMadeInside(key, one.scope.body);
}

/** A key that the function makes for itself: `key = (height, width)`, `i, j = draw()`. */
function isMadeInside(key: Node, body: Node): boolean {
  return namesIn(key).some((name) => firstAssignment(body, name) !== null);
}

function countsUp(inside: Node, name: string): boolean {
  for (const node of descend(inside)) {
    if (node.type === 'augmented_assignment' && node.childForFieldName('left')?.text === name) return true;
  }
  return false;
}

/** Tensors in what is kept. */
export function* tensorsIn(expression: Node, one: Interpreted, environment: Environment): Iterable<KeptTensor> {
  switch (expression.type) {
    case 'tuple':
    case 'list':
    case 'set':
    case 'parenthesized_expression':
    case 'expression_list':
      for (const item of children(expression)) yield* tensorsIn(item, one, environment);
      return;
    case 'dictionary':
      for (const pair of children(expression)) {
        const value = pair.childForFieldName('value') ?? splatted(pair);
        if (value !== null) yield* tensorsIn(value, one, environment);
      }
      return;
    case 'call': {
      // `Transition(state, action)`, `dict(loss=loss)`, `(a, b)` in other words.
      const target = expression.childForFieldName('function');
      const value = one.evaluator.evaluate(expression, environment);
      const isRecord = target !== null && (target.text === 'dict' || /^[A-Z]\w*$/.test(target.text));
      if (isRecord && value.kind !== 'tensor') {
        for (const argument of children(expression.childForFieldName('arguments') ?? expression)) {
          yield* tensorsIn(argument.childForFieldName('value') ?? argument, one, environment);
        }
        return;
      }
    }
  }
  const whole = one.evaluator.evaluate(expression, environment);
  const value = tensorOf(whole);
  if (value !== null) yield { expression, value, isItself: whole.kind === 'tensor' };
}

/** `values` of `{**values}` */
function splatted(pair: Node): Node | null {
  return pair.type === 'dictionary_splat' ? (children(pair)[0] ?? null) : null;
}

/** A tensor, or the first one with a graph of a tuple or collection. */
export function tensorOf(value: Value): TensorValue | null {
  if (value.kind === 'tensor') return value;
  const inner = value.kind === 'container' ? [value.elements] : value.kind === 'tuple' ? value.items : [];
  const tensors = inner.map(tensorOf).filter((one) => one !== null);
  return tensors.find((one) => one.graph === 'yes') ?? tensors[0] ?? null;
}
