import type { Node } from '../syntax/node';
import { gradIsOff } from '../scopes/gradMode';
import { seesTopLevel } from '../scopes/bindings';
import { dottedName, type FunctionScope, type ModuleScope } from '../scopes/module';
import { children } from '../syntax/parser';
import { freezes } from './frozen';
import * as names from './torchNames';
import { join, plain, tensor, unknown, type Environment, type Tri, type Value } from './value';

/** What is known beyond one function: the last round's summaries; `called` collects for the next one. */
export interface Knowledge {
  module: ModuleScope;
  /** Value of a function's result. */
  result(scope: FunctionScope): Value;
  /** Value of an attribute of instances of a class of this file. */
  attribute(className: string, attribute: string): Value;
  /** Value of a name of the top level, as functions see it. */
  global(name: string): Value;
  called(scope: FunctionScope, args: Value[], keywords: ReadonlyMap<string, Value>): void;
}

/** Evaluates expressions of one function at one point. */
export class Evaluator {
  constructor(
    private readonly scope: FunctionScope,
    private readonly knowledge: Knowledge,
  ) {}

  evaluate(node: Node | null, environment: Environment): Value {
    if (node === null) return unknown;
    switch (node.type) {
      case 'identifier':
        return environment.get(node.text) ?? this.selfValue(node) ?? this.globalValue(node.text);
      case 'integer':
      case 'float':
      case 'string':
      case 'concatenated_string':
      case 'true':
      case 'false':
      case 'none':
      case 'comparison_operator':
      case 'not_operator':
        return node.type === 'comparison_operator' ? this.comparison(node, environment) : plain;
      case 'parenthesized_expression':
      case 'await':
        return this.evaluate(children(node)[0] ?? null, environment);
      case 'named_expression':
        return this.evaluate(node.childForFieldName('value'), environment);
      case 'unary_operator':
        return this.evaluate(node.childForFieldName('argument'), environment);
      case 'binary_operator':
        return combine(node, [
          this.evaluate(node.childForFieldName('left'), environment),
          this.evaluate(node.childForFieldName('right'), environment),
        ]);
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
        return { kind: 'tuple', items: children(node).map((item) => this.evaluate(item, environment)) };
      case 'list':
        return this.container(node, children(node), environment);
      case 'dictionary': {
        const values = children(node).map((pair) => pair.childForFieldName('value'));
        return this.container(
          node,
          values.filter((value): value is Node => value !== null),
          environment,
        );
      }
      case 'list_comprehension':
        return { kind: 'container', elements: this.evaluate(node.childForFieldName('body'), environment), made: node };
      case 'call':
        return this.call(node, environment);
      default:
        return unknown;
    }
  }

  /** What iterating over a value gives. */
  static element(value: Value): Value {
    if (value.kind === 'container') return value.elements;
    if (value.kind === 'tensor') return { ...value, scalar: false };
    if (value.kind === 'tuple' && value.items.length > 0) return value.items.reduce(join);
    return unknown;
  }

  private selfValue(node: Node): Value | null {
    const owner = this.scope.class;
    if (owner === null || node.text !== this.scope.parameters[0]) return null;
    return { kind: 'instance', of: owner };
  }

  private globalValue(name: string): Value {
    const { module } = this.knowledge;
    return seesTopLevel(name, this.scope, module) ? this.knowledge.global(name) : unknown;
  }

  private container(node: Node, items: Node[], environment: Environment): Value {
    const values = items.map((item) => this.evaluate(item, environment));
    const elements = values.length === 0 ? plain : values.reduce(join);
    // Containers of containers of containers are not followed.
    const deep = elements.kind === 'container' && elements.elements.kind === 'container';
    return { kind: 'container', elements: deep ? unknown : elements, made: node };
  }

  private comparison(node: Node, environment: Environment): Value {
    const values = children(node).map((child) => this.evaluate(child, environment));
    return values.some((value) => value.kind === 'tensor') ? tensor('no', null) : plain;
  }

  private attribute(node: Node, environment: Environment): Value {
    const name = node.childForFieldName('attribute')?.text ?? '';
    const here = environment.get(node.text);
    if (here !== undefined) return here;
    const object = this.evaluate(node.childForFieldName('object'), environment);
    if (object.kind === 'tensor') {
      if (name === 'data' || name === 'grad' || name === 'indices') return tensor('no', null, object.scalar);
      if (name === 'loss') return { ...object, scalar: true };
      return names.tensorAttributes.has(name) ? { ...object, scalar: false } : plain;
    }
    if (object.kind === 'instance') return this.knowledge.attribute(object.of.name, name);
    return unknown;
  }

  private subscript(node: Node, environment: Environment): Value {
    const object = this.evaluate(node.childForFieldName('value'), environment);
    if (object.kind === 'tensor') return { ...object, scalar: false };
    if (object.kind === 'container') return object.elements;
    const index = node.childForFieldName('subscript');
    if (object.kind === 'tuple' && index?.type === 'integer') return object.items[Number(index.text)] ?? unknown;
    return unknown;
  }

  private call(node: Node, environment: Environment): Value {
    const target = node.childForFieldName('function');
    const list = node.childForFieldName('arguments');
    if (target === null || list === null) return unknown;
    const args: Value[] = [];
    const keywords = new Map<string, Value>();
    if (list.type === 'argument_list') {
      for (const argument of children(list)) {
        if (argument.type === 'keyword_argument') {
          const value = this.evaluate(argument.childForFieldName('value'), environment);
          keywords.set(argument.childForFieldName('name')?.text ?? '', value);
        } else args.push(this.evaluate(argument, environment));
      }
    } else {
      // A generator as the only argument.
      const body = this.evaluate(list.childForFieldName('body'), environment);
      args.push({ kind: 'container', elements: body, made: list });
    }
    const dotted = dottedName(target, this.knowledge.module.imports);
    if (dotted !== null) return this.library(dotted, node, [...args, ...keywords.values()], list.text);
    if (target.type === 'identifier' && !environment.has(target.text)) {
      const known = this.named(target.text, node, args, keywords);
      if (known !== null) return known;
    }
    if (target.type === 'attribute') {
      const method = this.method(target, node, args, keywords, environment);
      if (method !== null) return method;
    }
    return this.callValue(this.evaluate(target, environment), node, args, keywords);
  }

  /** A function or class that an import names. */
  private library(name: string, node: Node, args: Value[], text: string): Value {
    const last = name.slice(name.lastIndexOf('.') + 1);
    if (names.notModules.test(name)) return unknown;
    if (names.lossClass.test(name)) return text.includes('reduction') ? unknown : { kind: 'module', loss: true };
    if (names.moduleClass.test(name)) return { kind: 'module', loss: false };
    if (names.optimizerClass.test(name)) return { kind: 'optimizer' };
    if (name === 'copy.deepcopy' || name === 'copy.copy' || name === 'torch.compile') return args[0] ?? unknown;
    if (!name.startsWith('torch.')) return unknown;
    if (names.creators.test(name) || names.discrete.has(last)) return tensor('no', null);
    if (names.functionalLoss.test(name)) {
      const loss = this.result(node, args);
      return loss.kind === 'tensor' ? { ...loss, scalar: !text.includes('reduction') } : loss;
    }
    const inner = args.map((arg) => (arg.kind === 'container' ? arg.elements : arg));
    return inner.some((arg) => arg.kind === 'tensor') ? this.result(node, inner) : unknown;
  }

  /** Builtins, and functions and classes of this file. */
  private named(name: string, node: Node, args: Value[], keywords: ReadonlyMap<string, Value>): Value | null {
    const { module } = this.knowledge;
    const made = module.classes.get(name);
    if (made !== undefined) {
      const start = made.methods.get('__init__');
      if (start !== undefined) this.knowledge.called(start, [{ kind: 'instance', of: made }, ...args], keywords);
      return { kind: 'instance', of: made };
    }
    const called = module.functions.get(name);
    if (called !== undefined) {
      this.knowledge.called(called, args, keywords);
      return this.withoutGraphWhenOff(node, this.knowledge.result(called));
    }
    if (['float', 'int', 'str', 'len', 'bool', 'repr', 'format', 'range', 'print'].includes(name)) return plain;
    if (name === 'sum' && args[0] !== undefined) return Evaluator.element(args[0]);
    if (name === 'abs') return args[0] ?? unknown;
    if (name === 'list' || name === 'dict') {
      return { kind: 'container', elements: args[0] === undefined ? plain : Evaluator.element(args[0]), made: node };
    }
    return null;
  }

  private method(
    target: Node,
    node: Node,
    args: Value[],
    keywords: ReadonlyMap<string, Value>,
    environment: Environment,
  ): Value | null {
    const name = target.childForFieldName('attribute')?.text ?? '';
    const object = this.evaluate(target.childForFieldName('object'), environment);
    if (object.kind === 'tensor') {
      if (names.leaving.has(name)) return plain;
      if (names.discrete.has(name)) return tensor('no', null, object.scalar);
      if (name === 'backward') return plain;
      if (names.casts.has(name)) return { ...object, graph: name === 'requires_grad_' ? 'yes' : object.graph };
      if (names.reductions.has(name) && args.length === 0) return { ...combine(node, [object]), scalar: true } as Value;
      return combine(node, [object, ...args]);
    }
    if (object.kind === 'module') {
      if (names.moduleSelf.has(name)) return freezes(node) ? unknown : object;
      return name === 'forward' ? this.callValue(object, node, args, keywords) : unknown;
    }
    if (object.kind === 'instance') {
      if (object.of.isModule && names.moduleSelf.has(name)) return freezes(node) ? unknown : object;
      const called = object.of.methods.get(name);
      if (called === undefined) return null;
      this.knowledge.called(called, [object, ...args], keywords);
      return this.withoutGraphWhenOff(node, this.knowledge.result(called));
    }
    return object.kind === 'plain' || object.kind === 'container' ? unknown : null;
  }

  /** Calling a value: a module computes something that carries a graph, as its parameters do. */
  private callValue(value: Value, node: Node, args: Value[], keywords: ReadonlyMap<string, Value>): Value {
    if (value.kind === 'module') {
      const all = [...args, ...keywords.values()];
      if (value.loss) {
        const loss = this.result(node, all);
        return loss.kind === 'tensor' ? { ...loss, scalar: true } : loss;
      }
      return this.recording(node) ? tensor('yes', node) : tensor('no', null);
    }
    if (value.kind === 'instance' && value.of.isModule) {
      const forward = value.of.methods.get('forward');
      if (forward === undefined) return unknown;
      this.knowledge.called(forward, [value, ...args], keywords);
      if (!this.recording(node)) return tensor('no', null);
      const result = this.knowledge.result(forward);
      if (result.kind === 'tensor') return { ...result, graph: result.graph === 'no' ? 'maybe' : 'yes', from: node };
      // Its layers may be made in ways that are not followed here; what they compute carries their graph all the same.
      return result.kind === 'unknown' ? tensor('yes', node) : result;
    }
    return unknown;
  }

  /** A result of torch on these operands, as the grad mode at `node` lets it be. */
  private result(node: Node, operands: Value[]): Value {
    return this.withoutGraphWhenOff(node, combine(node, operands));
  }

  private withoutGraphWhenOff(node: Node, value: Value): Value {
    if (value.kind !== 'tensor' || value.graph === 'no' || this.recording(node)) return value;
    return { ...value, graph: 'no', from: null };
  }

  private recording(node: Node): boolean {
    return !gradIsOff(node, this.knowledge.module);
  }
}

/** A new tensor made of operands: it carries a graph when one of them does. */
export function combine(node: Node, operands: Value[]): Value {
  const tensors = operands.filter((operand) => operand.kind === 'tensor');
  if (tensors.length === 0) return operands.every((operand) => operand.kind === 'plain') ? plain : unknown;
  const carrying = tensors.filter((operand) => operand.graph !== 'no');
  const sure = carrying.find((operand) => operand.graph === 'yes');
  const unsure = operands.some((operand) => operand.kind === 'unknown') || carrying.length > 0;
  const graph: Tri = sure !== undefined ? 'yes' : unsure ? 'maybe' : 'no';
  const freed: Tri =
    carrying.length === 0 ? 'no' : carrying.map((one) => one.freed).reduce((a, b) => (a === b ? a : 'maybe'));
  const scalar = operands.every((operand) => operand.kind === 'plain' || (operand.kind === 'tensor' && operand.scalar));
  return { kind: 'tensor', graph, freed, scalar, from: sure?.from ?? (graph === 'yes' ? node : null) };
}
