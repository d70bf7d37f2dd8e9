import type { Node } from '../syntax/node';
import type { FlowGraph } from '../flow/graph';
import { gradMode } from '../scopes/gradMode';
import { seesTopLevel } from '../scopes/bindings';
import { isUsedAsModule } from '../scopes/roles';
import { methodOf, dottedName, type ClassScope, type FunctionScope, type ModuleScope } from '../scopes/module';
import { children } from '../syntax/parser';
import { call } from './calls';
import { bindTarget, combine, withoutGraph } from './operations';
import { noSites, site, union, type Sites } from './sites';
import * as names from './torchNames';
import {
  container,
  element,
  join,
  joinItems,
  module,
  none,
  plain,
  tensor,
  tuple,
  unknown,
  unknownHolding,
} from './value';
import type { TensorValue, Tri, Value } from './value';
import { changed, type Environment } from './environment';

/** What is known beyond one function: the last round's summaries; `called` collects for the next one. */
export interface Knowledge {
  module: ModuleScope;
  /** Value of a function's result; of a generator, what it yields. */
  result(scope: FunctionScope): Value;
  /** Value of an attribute of instances of a class of this file. */
  attribute(owner: ClassScope, attribute: string): Value;
  /** Value of an attribute that one class of this file alone sets. */
  anyAttribute(attribute: string): Value;
  /** Value of a name of the top level, as functions see it. */
  global(name: string): Value;
  /** Value of a name of the function around, as an inner one sees it. */
  enclosing(scope: FunctionScope, name: string): Value;
  called(scope: FunctionScope, args: readonly Value[], keywords: ReadonlyMap<string, Value>): void;
  graphOf(scope: FunctionScope): FlowGraph;
  /** Names among a call's arguments that the function it calls back-propagates. */
  backPropagates(call: Node): readonly string[];
  /** A function runs at every forward or backward of a module. */
  hooked(scope: FunctionScope): void;
}

/** Expressions inside expressions beyond this depth, which generated code has, are not followed. */
const mostDeep = 150;

/** Evaluates expressions of one function at one point. */
export class Evaluator {
  private depth = 0;
  private readonly calls = new Map<number, { environment: Environment; value: Value }>();

  constructor(
    readonly scope: FunctionScope,
    readonly knowledge: Knowledge,
  ) {}

  evaluate(node: Node | null, environment: Environment): Value {
    if (node === null || this.depth > mostDeep) return unknown;
    this.depth++;
    const value = this.read(node, environment);
    this.depth--;
    return value;
  }

  private read(node: Node, environment: Environment): Value {
    switch (node.type) {
      case 'identifier':
        return this.name(node, environment);
      case 'integer':
      case 'float':
      case 'string':
      case 'concatenated_string':
      case 'interpolation':
        // What it calls is called all the same.
        for (const part of children(node)) this.evaluate(part, environment);
        return plain;
      case 'true':
      case 'false':
      case 'not_operator':
        return plain;
      case 'none':
        return none;
      case 'comparison_operator':
        return this.comparison(node, environment);
      case 'parenthesized_expression':
      case 'await':
      case 'list_splat':
      case 'dictionary_splat':
        return this.evaluate(children(node)[0] ?? null, environment);
      case 'named_expression':
        return this.evaluate(node.childForFieldName('value'), environment);
      case 'unary_operator':
        return this.fresh(node, this.evaluate(node.childForFieldName('argument'), environment));
      case 'binary_operator':
        return this.binary(node, environment);
      case 'conditional_expression': {
        const [yes, , no] = children(node);
        return join(this.evaluate(yes ?? null, environment), this.evaluate(no ?? null, environment));
      }
      case 'boolean_operator':
        return join(
          this.evaluate(node.childForFieldName('left'), environment),
          this.evaluate(node.childForFieldName('right'), environment),
        );
      case 'attribute':
        return this.attribute(node, environment);
      case 'subscript':
        return this.subscript(node, environment);
      case 'tuple':
      case 'expression_list':
        return tuple(children(node).map((item) => this.evaluate(item, environment)));
      case 'list':
      case 'set':
        return this.collection(node, children(node), environment);
      case 'dictionary': {
        const values = children(node).map((pair) => pair.childForFieldName('value') ?? pair);
        return this.collection(node, values, environment);
      }
      case 'list_comprehension':
      case 'set_comprehension':
      case 'dictionary_comprehension':
      case 'generator_expression':
        return this.comprehension(node, environment);
      case 'lambda': {
        const inner = this.knowledge.module.scopeOf.get(node.id);
        return inner === undefined ? unknown : { kind: 'function', scope: inner, holds: noSites };
      }
      case 'call':
        return this.callOnce(node, environment);
      default:
        return unknown;
    }
  }

  /** A call stands inside others and is asked for by each of them. */
  private callOnce(node: Node, environment: Environment): Value {
    const known = this.calls.get(node.id);
    if (known?.environment === environment) return known.value;
    const value = call(node, environment, this);
    this.calls.set(node.id, { environment, value });
    return value;
  }

  /** A name as torch's or another library's, when an import binds it and nothing else. */
  dotted(node: Node): string | null {
    return dottedName(node, this.knowledge.module.imports);
  }

  /** Whether autograd records at `node`. */
  recording(node: Node): Tri {
    return gradMode(node, this.knowledge.module);
  }

  /** A result of torch on these operands, as the grad mode at `node` lets it be. */
  result(node: Node, operands: readonly Value[]): Value {
    return this.underMode(node, combine(node, operands));
  }

  /** A value that some function computed at `node`: without a graph where none is recorded. */
  underMode(node: Node, value: Value): Value {
    if (value.kind === 'tuple') {
      const mode = this.recording(node);
      return mode === 'yes' ? value : tuple(value.items.map((item) => this.underMode(node, item)));
    }
    if (value.kind === 'container' && value.elements.kind === 'tensor' && this.recording(node) === 'no')
      return { ...value, elements: this.underMode(node, value.elements) };
    if (value.kind !== 'tensor' || value.graph === 'no') return value;
    const mode = this.recording(node);
    if (mode === 'yes') return value;
    if (mode === 'maybe') return { ...value, graph: 'maybe' };
    return withoutGraph(value);
  }

  private name(node: Node, environment: Environment): Value {
    const here = environment.get(node.text) ?? this.outer(node.text);
    return here.kind === 'unknown' ? (this.byUse(node, here.holds) ?? here) : here;
  }

  private byUse(node: Node, holds: Sites): Value | null {
    if (!isUsedAsModule(node, this.knowledge.module)) return null;
    return { ...module(site(node, 'model')), holds };
  }

  /** What a name means that the function does not bind: its own object, a function, something of a scope around. */
  private outer(name: string): Value {
    const { module: file } = this.knowledge;
    const owner = this.ownerOf(name);
    if (owner !== null) return { kind: 'instance', of: owner, frozen: false, holds: noSites };
    const inner = file.innerFunctions.get(this.scope.node.id)?.get(name) ?? file.functions.get(name);
    if (inner !== undefined) return { kind: 'function', scope: inner, holds: noSites };
    if (seesTopLevel(name, this.scope, file)) return this.knowledge.global(name);
    return this.scope.body.type === 'module' ? unknown : this.knowledge.enclosing(this.scope, name);
  }

  /** The class whose method, this one or one around it, calls its own object so. */
  private ownerOf(name: string): ClassScope | null {
    for (let at: FunctionScope | null = this.scope; at !== null; at = at.around) {
      if (at.class !== null && !at.isStatic && at.parameters[0] === name) return at.class;
      if (at.parameters.includes(name)) return null;
    }
    return null;
  }

  private collection(node: Node, items: readonly Node[], environment: Environment): Value {
    const values = items.map((item) => {
      const value = this.evaluate(item, environment);
      return item.type === 'list_splat' || item.type === 'dictionary_splat' ? element(value) : value;
    });
    return container(node, values.length === 0 ? plain : values.reduce(joinItems));
  }

  private comprehension(node: Node, environment: Environment): Value {
    let inner = environment;
    for (const clause of children(node)) {
      if (clause.type !== 'for_in_clause') continue;
      const each = element(this.evaluate(clause.childForFieldName('right'), inner));
      const names = new Map<string, Value>();
      bindTarget(clause.childForFieldName('left'), each, names);
      inner = changed(inner, names);
    }
    const body = node.childForFieldName('body');
    return container(node, this.evaluate(body?.childForFieldName('value') ?? body, inner));
  }

  private comparison(node: Node, environment: Environment): Value {
    const values = children(node).map((child) => this.evaluate(child, environment));
    const isTensor = values.some((value) => value.kind === 'tensor') && !/(is|in)/.test(node.text);
    return isTensor ? tensor(site(node, 'tensor')) : plain;
  }

  private binary(node: Node, environment: Environment): Value {
    const left = this.evaluate(node.childForFieldName('left'), environment);
    const right = this.evaluate(node.childForFieldName('right'), environment);
    const operator = node.childForFieldName('operator')?.text;
    if (left.kind === 'container' || right.kind === 'container') {
      if (left.kind === 'container' && right.kind === 'container' && operator === '+')
        return container(node, join(left.elements, right.elements));
      return operator === '*' && left.kind === 'container' ? left : unknownHolding(union(left.holds, right.holds));
    }
    const value = this.result(node, [left, right]);
    // A matrix product with a transpose grows with the square of its rows.
    if (operator !== '@' || value.kind !== 'tensor') return value;
    return { ...value, full: true, scalar: false, output: value.output === null ? null : 'unknown' };
  }

  private attribute(node: Node, environment: Environment): Value {
    const here = environment.get(node.text);
    if (here !== undefined && here.kind !== 'unknown') return here;
    const name = node.childForFieldName('attribute')?.text ?? '';
    const object = this.evaluate(node.childForFieldName('object'), environment);
    const value = here ?? this.attributeOf(object, name, node);
    return value.kind === 'unknown' ? (this.byUse(node, value.holds) ?? value) : value;
  }

  private attributeOf(object: Value, name: string, node: Node): Value {
    switch (object.kind) {
      case 'tensor':
        return tensorAttribute(object, name, node);
      case 'instance': {
        const method = methodOf(object.of, name, this.knowledge.module);
        if (method !== undefined && !method.isProperty) return { kind: 'function', scope: method, holds: object.holds };
        if (method !== undefined) return this.underMode(node, this.knowledge.result(method));
        const value = this.knowledge.attribute(object.of, name);
        return object.frozen && (value.kind === 'module' || value.kind === 'instance')
          ? { ...value, frozen: true }
          : value;
      }
      case 'holder':
        return object.role === 'exception' && name === '__traceback__' ? object : unknownHolding(object.holds);
      case 'module':
        // A layer of a module of torch, or a parameter of it.
        if (name === 'weight' || name === 'bias')
          return tensor(site(node, 'tensor'), { graph: object.frozen ? 'no' : 'yes', holds: object.holds, from: node });
        return unknownHolding(object.holds);
      default: {
        const owner = this.namedClass(node.childForFieldName('object'));
        if (owner !== null) return this.knowledge.attribute(owner, name);
        // A parameter that nothing is known of: where one class of the file sets such an attribute, it is of that class.
        return object.holds.length === 0 && this.scope.parameters.includes(node.childForFieldName('object')?.text ?? '')
          ? this.knowledge.anyAttribute(name)
          : unknownHolding(object.holds);
      }
    }
  }

  /** `Net`, `type(self)`, `self.__class__`. */
  private namedClass(node: Node | null): ClassScope | null {
    if (node?.type === 'identifier') return this.knowledge.module.classes.get(node.text) ?? null;
    const self = /^(?:type\((\w+)\)|(\w+)\.__class__)$/.exec(node?.text ?? '');
    return self === null ? null : this.ownerOf(self[1] ?? self[2] ?? '');
  }

  private subscript(node: Node, environment: Environment): Value {
    const object = this.evaluate(node.childForFieldName('value'), environment);
    const [, ...indices] = children(node);
    const [index] = indices;
    if (object.kind === 'tensor') return this.part(object, indices, node, environment);
    if (object.kind === 'container') {
      const isSlice = index?.type === 'slice';
      return isSlice ? object : object.elements;
    }
    if (object.kind === 'tuple') {
      const at = index === undefined ? NaN : Number(index.text);
      return Number.isInteger(at) ? (object.items.at(at) ?? unknown) : element(object);
    }
    if (object.kind === 'holder' && object.role === 'checkpoint') return object;
    // Some of the layers of an `nn.Sequential`.
    if (object.kind === 'module' && !object.loss) return { ...object, answers: 'unknown' };
    // `sys.exc_info()[1]`; the first item is the class only.
    if (object.kind === 'holder' && object.role === 'exception') return index?.text === '0' ? plain : object;
    return unknownHolding(object.holds);
  }

  /** A part of a tensor: basic indexing shows its memory, indexing by a list or a tensor copies. */
  private part(object: TensorValue, indices: readonly Node[], node: Node, environment: Environment): Value {
    const [index] = indices;
    if (index?.type === 'string') {
      // An item of a model's answer.
      return index.text.includes('loss') ? { ...object, scalar: true, full: false } : { ...object, scalar: false };
    }
    const isPlainIndex = indices.every(
      (one) =>
        one.type === 'slice' ||
        one.type === 'ellipsis' ||
        one.type === 'none' ||
        (one.type !== 'list' && this.evaluate(one, environment).kind === 'plain'),
    );
    const result = { ...object, scalar: false, full: false };
    if (!isPlainIndex) {
      const own = site(node, 'tensor');
      return { ...result, own, partOf: null, holds: union([own], object.graph === 'no' ? noSites : object.holds) };
    }
    // `model(x)[0]` may be the first of several tensors.
    const surely = indices.length > 1 || index?.type === 'slice' || object.output === null;
    return surely && indices.some(picks) ? { ...result, partOf: node } : result;
  }

  /** A copy of a tensor computed at `node`. */
  private fresh(node: Node, value: Value): Value {
    return value.kind === 'tensor' ? this.result(node, [value]) : value;
  }
}

function tensorAttribute(object: TensorValue, name: string, node: Node): Value {
  const own = site(node, 'tensor');
  if (name === 'data') return withoutGraph(object);
  if (name === 'grad') return tensor(own, { full: object.full });
  if (name === 'indices') return tensor(own);
  if (name === 'loss') return { ...object, scalar: true, full: false };
  if (name === 'values') return { ...object, own, partOf: null, full: false };
  return names.tensorAttributes.has(name) ? { ...object, scalar: false } : plain;
}

/** Whether an index leaves most of a dimension out: one place of it, or a few; up to a variable may be all. */
function picks(index: Node): boolean {
  if (index.type !== 'slice') return index.type !== 'ellipsis' && index.type !== 'none';
  return /^\s*:\s*\d+\s*$|^-\d+\s*:$/.test(index.text);
}
