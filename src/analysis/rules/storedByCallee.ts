import { carryingLoop, isCalledAgain, loopsAround } from '../flow/loops';
import type { FunctionScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Environment } from '../values/environment';
import { interpret, type Interpreted } from '../values/interpret';
import { holdsSite } from '../values/sites';
import { container, type TensorValue, type Value } from '../values/value';
import type { Program } from './rule';
import { storesOf, type KeptTensor, type Store } from './stores';

/** A tensor that is handed to a method of this file, which keeps it in its object round after round, or to a function that
 * keeps it in a collection of the module. */
export interface StoredByCallee {
  /** The statement with the call, and the argument as it is written there. */
  statement: Node;
  argument: KeptTensor;
  loop: Node | null;
  /** The method that keeps it, read with this argument; of a method that hands it on, the last one. */
  method: Interpreted;
  /** The one that is called here. */
  called: FunctionScope;
  store: Store;
  kept: KeptTensor;
}

/** A method that hands its argument on is followed this far. */
const mostCalls = 2;

const known = new WeakMap<Interpreted, readonly StoredByCallee[]>();

/** Every tensor that a function hands to methods that keep it. */
export function storedByCallees(one: Interpreted, program: Program): readonly StoredByCallee[] {
  let stored = known.get(one);
  if (stored === undefined) known.set(one, (stored = [...readStored(one, program, mostCalls)]));
  return stored;
}

function* readStored(one: Interpreted, program: Program, calls: number): Iterable<StoredByCallee> {
  for (const { syntax } of one.graph.points) {
    const call = syntax.type === 'expression_statement' ? children(syntax)[0] : undefined;
    const environment = one.before.get(syntax.id);
    if (call?.type !== 'call' || environment === undefined) continue;
    const method = methodOf(call, environment, one);
    if (method === null) continue;
    const loop = loopOf(call, syntax, one, program);
    if (loop === undefined) continue;
    for (const argument of tensorArguments(call, environment, one)) {
      const inner = interpret(method, one.evaluator.knowledge, bind(call, argument, method, environment, one));
      const shared = { statement: syntax, argument, loop, called: method };
      for (const store of storesOf(inner, program)) {
        const kept =
          store.keeperOf === (method.class === null ? 'outer' : 'object')
            ? store.tensors.find((one) => isMadeOf(one.value, argument.value))
            : undefined;
        if (kept !== undefined) yield { ...shared, method: inner, store, kept };
      }
      if (calls === 0) continue;
      for (const further of readStored(inner, program, calls - 1)) {
        if (isMadeOf(further.argument.value, argument.value)) yield { ...further, ...shared };
      }
    }
  }
}

/** The method that is called; of an object that is called itself, its `__call__`. */
function methodOf(call: Node, environment: Environment, one: Interpreted): FunctionScope | null {
  const target = call.childForFieldName('function');
  if (target === null || target.text.startsWith('super')) return null;
  const value = one.evaluator.evaluate(target, environment);
  const scope =
    value.kind === 'function' ? value.scope : value.kind === 'instance' ? value.of.methods.get('__call__') : undefined;
  if (scope === undefined || scope.isGenerator || scope === one.scope || scope.node.type === 'lambda') return null;
  const isOwn = scope.class === null ? scope.around === null : !scope.class.isModule && !scope.isStatic;
  return isOwn ? scope : null;
}

/** The loop over which the object lives; null where the function runs again and again, undefined where neither is so. */
function loopOf(call: Node, statement: Node, one: Interpreted, program: Program): Node | null | undefined {
  let object = call.childForFieldName('function');
  if (object?.type === 'identifier' && one.evaluator.evaluate(object, new Map()).kind === 'function')
    return loopsAround(statement)[0] ?? (isCalledAgain(one.scope, program.module, program.isHook) ? null : undefined);
  if (object?.type === 'attribute') object = object.childForFieldName('object');
  while (object?.type === 'subscript') object = object.childForFieldName('value');
  if (object?.type !== 'identifier' && object?.type !== 'attribute') return undefined;
  const loop = carryingLoop(statement, object.text);
  if (loop !== null) return loop;
  const isLocal = object.type === 'identifier' && !one.scope.parameters.includes(object.text);
  if (isLocal || loopsAround(statement).length > 0) return undefined;
  return isCalledAgain(one.scope, program.module, program.isHook) ? null : undefined;
}

function* tensorArguments(call: Node, environment: Environment, one: Interpreted): Iterable<KeptTensor> {
  for (const given of children(call.childForFieldName('arguments') ?? call)) {
    yield* tensorsIn(given.childForFieldName('value') ?? given, environment, one);
  }
}

/** The tensors of an argument: of a dict or tuple that is written there, each of its own. */
function* tensorsIn(expression: Node, environment: Environment, one: Interpreted): Iterable<KeptTensor> {
  switch (expression.type) {
    case 'dictionary':
    case 'tuple':
    case 'list':
      for (const item of children(expression))
        yield* tensorsIn(item.childForFieldName('value') ?? item, environment, one);
      return;
  }
  const value = one.evaluator.evaluate(expression, environment);
  if (value.kind === 'tensor' && (value.graph === 'yes' || (value.full && !value.host)))
    yield { expression, value, isItself: true };
}

/**
 * Parameters of the method as this call binds them. What `**` collects holds the one argument only: joined with the
 * others nothing would be known of it.
 */
function bind(
  call: Node,
  argument: KeptTensor,
  method: FunctionScope,
  environment: Environment,
  one: Interpreted,
): Environment {
  const bound = new Map<string, Value>();
  const list = method.node.childForFieldName('parameters');
  const first = method.class === null ? 0 : 1;
  const parameters = (list === null ? [] : children(list)).slice(first);
  const named = new Set(method.parameters);
  const isOf = (node: Node): boolean =>
    node.startIndex <= argument.expression.startIndex && argument.expression.endIndex <= node.endIndex;
  const valueOf = (node: Node): Value =>
    isOf(node) ? holding(node, argument) : one.evaluator.evaluate(node, environment);
  const splat = (type: string): Node | undefined =>
    parameters
      .flatMap((parameter) => [...descend(parameter)])
      .find((node) => node.type === type)
      ?.children.at(0);
  let index = first;
  for (const given of children(call.childForFieldName('arguments') ?? call)) {
    const value = given.childForFieldName('value') ?? given;
    const name = given.type === 'keyword_argument' ? given.childForFieldName('name')?.text : method.parameters[index++];
    const rest = splat(given.type === 'keyword_argument' ? 'dictionary_splat_pattern' : 'list_splat_pattern');
    if (name !== undefined && named.has(name) && !name.startsWith('*') && name !== rest?.text)
      bound.set(name, valueOf(value));
    else if (rest !== undefined && isOf(given)) bound.set(rest.text, container(call, valueOf(value)));
  }
  return bound;
}

/** A dict or tuple that is written there, as one that holds the argument. */
function holding(node: Node, { expression, value }: KeptTensor): Value {
  return node === expression ? value : container(node, value);
}

/** The same tensor, or one whose graph holds it. */
function isMadeOf(kept: TensorValue, given: TensorValue): boolean {
  if (given.own !== null && holdsSite(kept.holds, given.own)) return true;
  return given.from !== null && kept.from === given.from;
}
