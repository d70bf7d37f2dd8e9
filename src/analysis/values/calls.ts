import type { Node } from '../syntax/node';
import { isAutogradFunction, isClass, methodOf, type ClassScope, type FunctionScope } from '../scopes/module';
import { children } from '../syntax/parser';
import type { Environment } from './environment';
import type { Evaluator } from './evaluate';
import { freezes } from './frozen';
import { libraryCall } from './libraryCalls';
import { combine } from './operations';
import { models, noSites, site, union, type Sites } from './sites';
import { tensorMethod } from './tensorMethods';
import { queue, started } from './processes';
import * as names from './torchNames';
import { container, element, join, module, plain, tensor, tuple, unknown, unknownHolding } from './value';
import type { InstanceValue, ModuleValue, Value } from './value';

/** A call with its arguments evaluated. */
export interface Call {
  node: Node;
  args: readonly Value[];
  keywords: ReadonlyMap<string, Value>;
  /** Everything that its arguments keep alive. */
  holds: Sites;
}

/** Value of a call's result; arguments of functions of the file are told to them. */
export function call(node: Node, environment: Environment, evaluator: Evaluator): Value {
  const target = node.childForFieldName('function');
  const list = node.childForFieldName('arguments');
  if (target === null || list === null) return unknown;
  const made = readArguments(node, list, environment, evaluator);
  const dotted = target.type === 'identifier' && environment.has(target.text) ? null : evaluator.dotted(target);
  if (dotted !== null) {
    const linked = evaluator.knowledge.module.linked.get(dotted);
    if (linked === undefined) return libraryCall(dotted, withItems(dotted, made, environment, evaluator), evaluator);
    return isClass(linked) ? construct(linked, made, evaluator) : callFunction(linked, null, made, evaluator);
  }
  if (target.type === 'identifier' && !environment.has(target.text)) {
    const known = named(target.text, made, evaluator);
    if (known !== null) return known;
  }
  if (target.type === 'attribute') {
    const method = methodCall(target, made, environment, evaluator);
    if (method !== null) return method;
  }
  return callValue(evaluator.evaluate(target, environment), target, made, evaluator);
}

/** `torch.cat([a, b])`: of a list that is written out, each item is known by itself. */
function withItems(name: string, made: Call, environment: Environment, evaluator: Evaluator): Call {
  const list = made.node.childForFieldName('arguments');
  const [literal] = list === null || !names.joining.test(name) ? [] : children(list);
  if (literal?.type !== 'list' || children(literal).some((item) => item.type === 'list_splat')) return made;
  const items = tuple(children(literal).map((item) => evaluator.evaluate(item, environment)));
  return { ...made, args: [items, ...made.args.slice(1)] };
}

function readArguments(node: Node, list: Node, environment: Environment, evaluator: Evaluator): Call {
  const args: Value[] = [];
  const keywords = new Map<string, Value>();
  if (list.type !== 'argument_list') args.push(evaluator.evaluate(list, environment));
  else {
    for (const argument of children(list)) {
      if (argument.type === 'keyword_argument') {
        const value = evaluator.evaluate(argument.childForFieldName('value'), environment);
        keywords.set(argument.childForFieldName('name')?.text ?? '', value);
      } else if (argument.type === 'list_splat') {
        const splat = evaluator.evaluate(argument, environment);
        if (splat.kind === 'tuple') args.push(...splat.items);
        else args.push(element(splat));
      } else args.push(evaluator.evaluate(argument, environment));
    }
  }
  const holds = [...args, ...keywords.values()].reduce<Sites>((all, value) => union(all, value.holds), noSites);
  return { node, args, keywords, holds };
}

/** Builtins that answer what they are given, or its elements one by one. */
const passing = new Set(['iter', 'reversed', 'sorted', 'list', 'tuple', 'set', 'frozenset']);
const counting = new Set(
  'float int str len bool repr format range print isinstance hasattr type id hash callable all any ord chr'.split(' '),
);

/** Builtins, and functions and classes of this file. */
function named(name: string, made: Call, evaluator: Evaluator): Value | null {
  const { module: file } = evaluator.knowledge;
  const [first] = made.args;
  const owner = file.classes.get(name);
  if (owner !== undefined) return construct(owner, made, evaluator);
  if (counting.has(name)) return plain;
  switch (name) {
    case 'sum':
      return first === undefined ? plain : combine(made.node, [element(first)]);
    case 'max':
    case 'min':
      return made.args.length === 1 && first !== undefined ? element(first) : made.args.reduce(join, plain);
    case 'abs':
    case 'round':
      return first ?? unknown;
    case 'next':
      return first === undefined ? unknown : element(first);
    case 'enumerate':
      return container(made.node, tuple([plain, first === undefined ? unknown : element(first)]));
    case 'zip':
      return container(made.node, tuple(made.args.map(element)));
    case 'map':
      return container(made.node, unknownHolding(made.holds));
    case 'dict':
      return container(made.node, [...made.args.map(element), ...made.keywords.values()].reduce(join, plain));
    case 'filter':
      return container(made.node, element(made.args.at(-1) ?? plain));
    case 'super':
      return unknown;
  }
  if (!passing.has(name)) return null;
  return first === undefined ? container(made.node, plain) : container(made.node, element(first));
}

function construct(owner: ClassScope, made: Call, evaluator: Evaluator): Value {
  const itself: InstanceValue = {
    ...{ kind: 'instance', of: owner, frozen: false },
    holds: owner.isModule ? union([site(made.node, 'model')], models(made.holds)) : made.holds,
  };
  const start = methodOf(owner, '__init__', evaluator.knowledge.module);
  if (start !== undefined) evaluator.knowledge.called(start, [itself, ...made.args], made.keywords);
  return itself;
}

/** Calls a function of the file. */
export function callFunction(scope: FunctionScope, self: Value | null, made: Call, evaluator: Evaluator): Value {
  const takesSelf = scope.class !== null && !scope.isStatic;
  const args = takesSelf && self !== null ? [self, ...made.args] : made.args;
  evaluator.knowledge.called(scope, args, made.keywords);
  const result = evaluator.knowledge.result(scope);
  if (scope.isGenerator) {
    return { ...container(made.node, result), holds: union(result.holds, made.holds) };
  }
  return evaluator.underMode(made.node, anew(result, made));
}

/** What a function made, as an object of this call. */
function anew(value: Value, made: Call): Value {
  switch (value.kind) {
    case 'tensor': {
      const own = site(made.node, value.graph === 'no' ? 'tensor' : 'recorded');
      return { ...value, own, partOf: null, holds: union([own], value.graph === 'no' ? noSites : value.holds) };
    }
    case 'module':
    case 'instance': {
      const isModel = value.kind === 'module' || value.of.isModule;
      const given = models(made.holds);
      return isModel ? { ...value, holds: given.length > 0 ? given : [site(made.node, 'model')] } : value;
    }
    case 'tuple': {
      // Each of them is made by this call, and none of them is another.
      return tuple(value.items.map((item) => (item.kind === 'tensor' ? item : anew(item, made))));
    }
    default:
      return value;
  }
}

const hooks = /^register_(forward|full_backward|backward|forward_pre|module_forward)_?(pre_)?hook$/;

function methodCall(target: Node, made: Call, environment: Environment, evaluator: Evaluator): Value | null {
  const name = target.childForFieldName('attribute')?.text ?? '';
  const object = evaluator.evaluate(target.childForFieldName('object'), environment);
  if (hooks.test(name)) return hooked(name, object, made, environment, evaluator);
  if (name === 'register_buffer' && object.kind === 'instance') return plain;
  // Of a context: `mp.get_context("spawn")`.
  if (name === 'Queue' && object.kind === 'unknown') return queue(made.node);
  if (name === 'Process' && object.kind === 'unknown') return started(name, made, evaluator);
  if (name === 'apply' && object.kind === 'unknown') {
    const owner = evaluator.knowledge.module.classes.get(target.childForFieldName('object')?.text ?? '');
    if (owner !== undefined && isAutogradFunction(owner)) return applied(owner, made, evaluator);
  }
  switch (object.kind) {
    case 'tensor':
      return tensorMethod(name, object, made, evaluator);
    case 'module':
    case 'instance':
      return moduleMethod(name, object, made, evaluator);
    case 'container':
      return containerMethod(name, object, made);
    case 'holder':
      if (object.role === 'weights' && (name === 'items' || name === 'values')) {
        const own = object.holds.find((one) => one.made === 'weights') ?? object.holds[0] ?? null;
        const weight = tensor(own ?? site(made.node, 'weights'), {
          full: true,
          holds: object.holds,
          host: object.host,
        });
        return container(made.node, name === 'items' ? tuple([plain, weight]) : weight);
      }
      if (object.role === 'checkpoint') return name === 'keys' ? plain : object;
      if (name === 'state_dict') return { ...object, role: 'weights' };
      if (name === 'step') for (const arg of made.args) callValue(arg, target, { ...made, args: [] }, evaluator);
      return unknownHolding(object.role === 'generator' ? noSites : object.holds);
    case 'plain':
      return plain;
    default:
      if (names.leaving.has(name)) return plain;
      // `accelerator.prepare(model, optimizer)`, `fabric.setup(model, optimizer)` answer what they are given.
      if (name === 'prepare' || name === 'setup')
        return made.args.length === 1 ? (made.args[0] ?? null) : tuple([...made.args]);
      return object.holds.length > 0 && evaluator.evaluate(target, environment).kind === 'unknown'
        ? unknownHolding(union(object.holds, made.holds))
        : null;
  }
}

/** A hook runs at every forward or backward of what it is registered with, with what that takes and answers. */
function hooked(name: string, object: Value, made: Call, environment: Environment, evaluator: Evaluator): Value {
  const { hook, bound } = hookOf(made, environment, evaluator);
  if (hook?.kind === 'function') {
    const isBackward = name.includes('backward');
    const activation = tensor(site(made.node, 'tensor'), {
      ...{ graph: isBackward ? 'no' : 'yes', from: isBackward ? null : made.node },
      ...{ full: true, output: 'unknown' },
    });
    const given: Value[] = name.includes('pre')
      ? [object, tuple([activation])]
      : [object, tuple([activation]), isBackward ? tuple([activation]) : activation];
    const takesSelf = hook.scope.class !== null && !hook.scope.isStatic;
    const self: Value = takesSelf && hook.scope.class !== null ? instance(hook.scope.class) : unknown;
    const args = [...bound, ...given];
    evaluator.knowledge.called(hook.scope, takesSelf ? [self, ...args] : args, new Map());
    evaluator.knowledge.hooked(hook.scope);
  }
  return { kind: 'holder', role: 'handle', made: made.node, host: false, holds: noSites };
}

/** `hook`, or `partial(hook, name)` with what that gives it first. */
function hookOf(
  { node, args }: Call,
  environment: Environment,
  evaluator: Evaluator,
): { hook: Value | undefined; bound: Value[] } {
  const [given] = children(node.childForFieldName('arguments') ?? node);
  const target = given?.type === 'call' ? given.childForFieldName('function') : null;
  if (!given || target === null || evaluator.dotted(target) !== 'functools.partial')
    return { hook: args[0], bound: [] };
  const positional = children(given.childForFieldName('arguments') ?? given).filter(
    (one) => one.type !== 'keyword_argument',
  );
  const [hook, ...bound] = positional.map((one) => evaluator.evaluate(one, environment));
  return { hook, bound };
}

/** `Function.apply(x)`: `forward` is given the arguments behind `ctx`; the result has the graph that they have. */
function applied(owner: ClassScope, made: Call, evaluator: Evaluator): Value {
  const forward = owner.methods.get('forward');
  if (forward === undefined) return unknownHolding(made.holds);
  const before = owner.methods.has('setup_context') ? [] : [unknown];
  evaluator.knowledge.called(forward, [...before, ...made.args], made.keywords);
  const isTensor = evaluator.knowledge.result(forward).kind !== 'tuple';
  const tensors = made.args.filter((arg) => arg.kind === 'tensor');
  return isTensor && tensors.length > 0 ? evaluator.result(made.node, tensors) : unknownHolding(made.holds);
}

function instance(of: ClassScope): InstanceValue {
  return { kind: 'instance', of, frozen: false, holds: noSites };
}

function moduleMethod(
  name: string,
  object: ModuleValue | InstanceValue,
  made: Call,
  evaluator: Evaluator,
): Value | null {
  const isModule = object.kind === 'module' || object.of.isModule;
  const own = object.kind === 'instance' ? methodOf(object.of, name, evaluator.knowledge.module) : undefined;
  if (own !== undefined) return own.isProperty ? null : callFunction(own, object, made, evaluator);
  if (!isModule) return null;
  if (names.moduleSelf.has(name)) return freezes(made.node) ? { ...object, frozen: true } : object;
  if (name === 'forward' || name === '__call__') return callValue(object, made.node, made, evaluator);
  if (name === 'parameters' || name === 'named_parameters') {
    const weight = tensor(site(made.node, 'model'), {
      ...{ graph: object.frozen ? 'no' : 'yes', from: made.node, full: true, holds: models(object.holds) },
    });
    const all = container(made.node, name === 'parameters' ? weight : tuple([plain, weight]));
    return { ...all, holds: object.holds };
  }
  if (/^(named_)?(modules|children)$/.test(name)) {
    const part = module(site(made.node, 'model'), { frozen: object.frozen, holds: object.holds });
    return container(made.node, name.startsWith('named') ? tuple([plain, part]) : part);
  }
  if (name === 'state_dict')
    return { kind: 'holder', role: 'weights', made: made.node, host: false, holds: object.holds };
  if (names.moduleOther.has(name)) return plain;
  // Of an own class it may be a layer.
  return object.kind === 'instance' ? null : unknownHolding(union(object.holds, made.holds));
}

function containerMethod(name: string, object: Value & { kind: 'container' }, made: Call): Value {
  switch (name) {
    case 'items':
      return container(made.node, tuple([plain, object.elements]));
    case 'values':
    case 'copy':
      return object;
    case 'pop':
    case 'popleft':
    case 'get':
    case 'setdefault':
      return object.elements;
    case 'keys':
    case 'index':
    case 'count':
    case 'append':
    case 'extend':
    case 'clear':
    case 'insert':
      return plain;
    default:
      return unknownHolding(object.holds);
  }
}

/** Calling a value: a module computes something that carries a graph, as its parameters do. */
export function callValue(value: Value, target: Node, made: Call, evaluator: Evaluator): Value {
  if (value.kind === 'function') {
    const owner = value.scope.class;
    return callFunction(
      value.scope,
      owner === null ? null : { ...instance(owner), holds: value.holds },
      made,
      evaluator,
    );
  }
  if (value.kind === 'module') return callModule(value, made, evaluator);
  if (value.kind === 'instance') {
    const name = value.of.isModule ? 'forward' : '__call__';
    const method = methodOf(value.of, name, evaluator.knowledge.module);
    if (!value.of.isModule) {
      return method === undefined ? unknownHolding(made.holds) : callFunction(method, value, made, evaluator);
    }
    return callOwnModule(value, method, made, evaluator);
  }
  if (value.kind === 'tensor') return unknown;
  if (names.lossName.test(target.text) && made.args.some((arg) => arg.kind === 'tensor' && arg.graph !== 'no')) {
    const loss = evaluator.result(
      made.node,
      made.args.filter((arg) => arg.kind === 'tensor'),
    );
    return loss.kind === 'tensor' ? { ...loss, scalar: true, full: false, output: null } : loss;
  }
  return unknownHolding(union(value.holds, made.holds));
}

function callModule(value: ModuleValue, made: Call, evaluator: Evaluator): Value {
  const given = [...made.args, ...made.keywords.values()].flatMap((arg) => (arg.kind === 'tuple' ? arg.items : [arg]));
  if (value.loss) {
    const loss = evaluator.result(made.node, given);
    return loss.kind === 'tensor' ? { ...loss, scalar: true, full: false, output: null } : loss;
  }
  const mode = evaluator.recording(made.node);
  const own = site(made.node, mode === 'no' || value.frozen || value.bare ? 'tensor' : 'recorded');
  const from = made.node;
  const input = given.find((arg) => arg.kind === 'tensor');
  const answers = value.answers === 'same' ? (input?.output ?? 'unknown') : value.answers;
  if (value.frozen || value.bare) {
    const result = evaluator.result(made.node, given);
    if (result.kind === 'tensor') return { ...result, full: true, scalar: false, output: answers };
    return tensor(own, { graph: mode === 'no' ? 'no' : 'maybe', from, full: true, output: answers });
  }
  if (mode === 'no') return tensor(own, { full: true, output: answers });
  const holds = union(value.holds, made.holds);
  return tensor(own, { graph: mode, from, full: true, output: answers, holds });
}

function callOwnModule(
  value: InstanceValue,
  forward: FunctionScope | undefined,
  made: Call,
  evaluator: Evaluator,
): Value {
  const mode = evaluator.recording(made.node);
  const own = site(made.node, mode === 'no' ? 'tensor' : 'recorded');
  if (forward !== undefined) evaluator.knowledge.called(forward, [value, ...made.args], made.keywords);
  const summary = forward === undefined ? unknown : evaluator.knowledge.result(forward);
  const isLoss = summary.kind === 'tensor' && summary.scalar;
  const holds = union(value.holds, made.holds);
  // Of several answers one that is not followed may be a number.
  const unsure = tensor(own, {
    graph: mode === 'no' ? 'no' : 'maybe',
    from: made.node,
    full: true,
    output: 'unknown',
    holds,
  });
  const answer = (result: Value): Value => {
    if (result.kind === 'tuple')
      return tuple(result.items.map((item) => (item.kind === 'unknown' ? unsure : answer(item))));
    if (result.kind === 'container') return { ...result, elements: answer(result.elements), holds };
    if (result.kind === 'plain' && forward !== undefined) return plain;
    const known = result.kind === 'tensor' ? result : null;
    const output = known?.output ?? 'unknown';
    // Its layers may be made in ways that are not followed here; what they compute carries their graph all the same.
    const graph = value.frozen ? graphOfArguments(made) : known?.graph === 'no' ? 'maybe' : 'yes';
    const shape = { full: !isLoss, scalar: isLoss, output };
    if (mode === 'no' || graph === 'no') return tensor(own, shape);
    return tensor(own, { ...shape, graph: mode === 'maybe' ? 'maybe' : graph, from: made.node, holds });
  };
  return answer(summary);
}

function graphOfArguments(made: Call): 'yes' | 'no' | 'maybe' {
  const given = [...made.args, ...made.keywords.values()];
  if (given.some((arg) => arg.kind === 'tensor' && arg.graph === 'yes')) return 'yes';
  return given.every((arg) => arg.kind === 'plain' || (arg.kind === 'tensor' && arg.graph === 'no')) ? 'no' : 'maybe';
}
