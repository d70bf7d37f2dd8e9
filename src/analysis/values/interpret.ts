import type { Node } from '../syntax/node';
import { isInside } from '../flow/within';
import type { FlowGraph, FlowPoint } from '../flow/graph';
import { capturedNames } from '../flow/names';
import type { FunctionScope } from '../scopes/module';
import { children, descend } from '../syntax/parser';
import { assignmentOf, backPropagated } from '../syntax/statements';
import { Evaluator, type Knowledge } from './evaluate';
import { bindTarget, combine } from './operations';
import { changed, differences, joinEnvironments, type Environment } from './environment';
import { frozenBy, thawedBy } from './frozen';
import { holdsSite, models, noSites, site, union } from './sites';
import { container, element, join, module, plain, unknown, type TensorValue, type Value } from './value';

/** A function with what is known before each of its statements. */
export interface Interpreted {
  scope: FunctionScope;
  graph: FlowGraph;
  evaluator: Evaluator;
  /** By the id of the statement's syntax node. */
  before: Map<number, Environment>;
  after: Map<number, Environment>;
  /** What it returns; of a generator, what it yields. */
  result: Value;
  /** Attributes of `self` that are set here. */
  attributes: Map<string, Value>;
  /** Names that inner functions (of the top level: all functions) see, with all that they are ever bound to. */
  seen: Map<string, Value>;
}

/** Visits per point before a value that keeps changing is left as it is. */
const mostVisits = 12;

/** Follows the values through a function until nothing changes any more. */
export function interpret(scope: FunctionScope, knowledge: Knowledge, start: Environment): Interpreted {
  const graph = knowledge.graphOf(scope);
  const evaluator = new Evaluator(scope, knowledge);
  const before: (Environment | undefined)[] = [];
  const after: (Environment | undefined)[] = [];
  before[graph.entry] = start;
  const visits = new Uint8Array(graph.points.length);
  const waiting = new Uint8Array(graph.points.length);
  waiting[graph.entry] = 1;
  // In the order of the source, again and again: most edges go forward.
  for (let any = true; any;) {
    any = false;
    graph.points.forEach((point, id) => {
      const environment = before[id];
      if (waiting[id] === 0 || environment === undefined) return;
      waiting[id] = 0;
      if ((visits[id] = (visits[id] ?? 0) + 1) > mostVisits) return;
      const left = id === graph.entry && point.own.length === 0 ? environment : transfer(point, environment, evaluator);
      after[id] = left;
      // What a loop is over gives nothing more where it is left: its target stays what the last round made of it.
      const isLoop = point.syntax.type === 'for_statement';
      const ended = isLoop ? transfer(point, environment, evaluator, true) : left;
      for (const next of point.next) {
        const known = before[next];
        const goesOut = isLoop && !isInside((graph.points[next] as FlowPoint).syntax, point.syntax);
        const out = goesOut ? ended : left;
        const joined = known === undefined ? out : joinEnvironments(known, out);
        if (known === joined) continue;
        before[next] = joined;
        waiting[next] = 1;
        if (next <= id) any = true;
      }
    });
  }
  return summarise(graph, before, after, { scope, graph, evaluator });
}

function summarise(
  graph: FlowGraph,
  before: (Environment | undefined)[],
  after: (Environment | undefined)[],
  of: Pick<Interpreted, 'scope' | 'graph' | 'evaluator'>,
): Interpreted {
  const { scope, evaluator } = of;
  const interpreted: Interpreted = {
    ...{ ...of, before: new Map(), after: new Map() },
    ...{ result: plain, attributes: new Map(), seen: new Map() },
  };
  const isTop = scope.body.type === 'module';
  const captured = isTop ? null : capturedNames(scope.body);
  const self = scope.class !== null && !scope.isStatic ? `${scope.parameters[0]}.` : null;
  const thawed = new Set(graph.points.flatMap(({ syntax }) => thawedBy(syntax)?.text ?? []));
  let result: Value | null = null;
  const answer = (value: Value): void => {
    result = result === null ? value : join(result, value);
  };
  graph.points.forEach((point, id) => {
    const environment = before[id];
    const left = after[id];
    if (environment === undefined || left === undefined) return;
    const { syntax } = point;
    if (id !== graph.entry || point.own.length > 0) {
      interpreted.before.set(syntax.id, environment);
      interpreted.after.set(syntax.id, left);
    }
    if (scope.isGenerator) for (const value of yielded(point)) answer(evaluator.evaluate(value, environment));
    else if (syntax.type === 'return_statement') answer(evaluator.evaluate(children(syntax)[0] ?? null, environment));
    else if (scope.node.type === 'lambda' && id !== graph.entry) answer(evaluator.evaluate(syntax, environment));
    if (left === environment) return;
    for (const [name, bound] of differences(environment, left)) {
      const value = outside(bound, name, thawed);
      if (self !== null && name.startsWith(self)) add(interpreted.attributes, name.slice(self.length), value);
      if (isTop || captured?.has(name)) add(interpreted.seen, name, value);
    }
  });
  for (const name of scope.parameters) {
    const value = before[graph.entry]?.get(name);
    if (captured?.has(name) && value !== undefined) add(interpreted.seen, name, value);
  }
  interpreted.result = result ?? plain;
  return interpreted;
}

function add(to: Map<string, Value>, name: string, value: Value): void {
  const known = to.get(name);
  to.set(name, known === undefined ? value : join(known, value));
}

function* yielded(point: FlowPoint): Iterable<Node | null> {
  for (const own of point.own) {
    for (const node of descend(own, (inner) => inner.type !== 'lambda' && inner.type !== 'function_definition'))
      if (node.type === 'yield') yield children(node)[0] ?? null;
  }
}

/** What is known after a point; the same object where nothing changes. A loop that is at its end binds its target no more. */
function transfer(point: FlowPoint, environment: Environment, evaluator: Evaluator, isAtEnd = false): Environment {
  const statement = point.syntax;
  const after = new Changes(environment);
  const frozen = frozenBy(statement);
  if (frozen !== null) freeze(frozen, after, evaluator);
  const thawed = thawedBy(statement);
  if (thawed !== null) thaw(thawed, after, evaluator);
  switch (statement.type) {
    case 'for_statement': {
      if (isAtEnd) return after.now;
      const each = element(evaluator.evaluate(statement.childForFieldName('right'), after.now));
      after.bind(statement.childForFieldName('left'), each);
      return after.now;
    }
    case 'delete_statement':
      for (const name of descend(statement)) {
        if (name.type === 'identifier' && after.now.has(name.text)) after.unbind(name.text);
      }
      return after.now;
    case 'with_statement':
    case 'except_clause':
    case 'except_group_clause':
      bindAs(point, statement, after, evaluator);
      return after.now;
    case 'function_definition':
    case 'decorated_definition':
    case 'class_definition':
    case 'import_statement':
    case 'import_from_statement':
      return environment;
  }
  const assignment = assignmentOf(statement);
  if (assignment !== null) assign(assignment, after, evaluator);
  else for (const own of point.own) effects(own, after, evaluator);
  return after.now;
}

/** An environment on its way through a statement. */
class Changes {
  now: Environment;

  constructor(start: Environment) {
    this.now = start;
  }

  set(name: string, value: Value): void {
    if (this.now.get(name) !== value) this.now = changed(this.now, new Map([[name, value]]));
  }

  unbind(name: string): void {
    this.now = changed(this.now, new Map([[name, undefined]]));
  }

  bind(target: Node | null, value: Value): void {
    const names = new Map<string, Value>();
    bindTarget(target, value, names);
    this.now = changed(this.now, names);
  }
}

function assign(assignment: Node, after: Changes, evaluator: Evaluator): void {
  const left = assignment.childForFieldName('left');
  const rightNode = assignment.childForFieldName('right');
  if (rightNode === null || left === null) return;
  if (rightNode.type === 'assignment')
    assign(rightNode, after, evaluator); // `a = b = …`
  else effects(rightNode, after, evaluator, false);
  const source = rightNode.type === 'assignment' ? rightNode.childForFieldName('left') : rightNode;
  const right = evaluator.evaluate(source, after.now);
  if (left.type === 'subscript') {
    keep(left.childForFieldName('value'), right, after, evaluator);
    return;
  }
  if (assignment.type !== 'augmented_assignment') {
    after.bind(left, right);
    return;
  }
  const old = evaluator.evaluate(left, after.now);
  if (old.kind === 'container') {
    keep(left, element(right), after, evaluator);
    return;
  }
  const sum = evaluator.underMode(assignment, combine(assignment, [old, right]));
  after.bind(left, sum);
}

const known = new WeakMap<Node, readonly Node[]>();

/** Calls and named expressions of an expression that run where it stands; asked for at every visit. */
function effectsIn(expression: Node): readonly Node[] {
  let found = known.get(expression);
  if (found === undefined) {
    const isRun = (node: Node): boolean => node.type !== 'lambda' && node.type !== 'function_definition';
    found = [...descend(expression, isRun)].filter(({ type }) => type === 'call' || type === 'named_expression');
    known.set(expression, found);
  }
  return found;
}

/** What the calls in an expression do to names: back-propagation, items added to collections. */
function effects(expression: Node, after: Changes, evaluator: Evaluator, evaluates = true): void {
  if (evaluates)
    evaluator.evaluate(
      expression.type === 'expression_statement' ? (children(expression)[0] ?? null) : returned(expression),
      after.now,
    );
  for (const node of effectsIn(expression)) {
    if (node.type !== 'call') {
      if (node.type === 'named_expression')
        after.bind(node.childForFieldName('name'), evaluator.evaluate(node, after.now));
      continue;
    }
    const names = backPropagated(node);
    if (names.length > 0 && !keepsGraph(node)) {
      for (const name of lossNames(node)) knownAsLoss(name, after);
      freed(names, after);
    } else if (names.length === 0) passedToBackward(node, after, evaluator);
    added(node, after, evaluator);
  }
}

function returned(expression: Node): Node | null {
  if (!/^(return|raise|assert|delete)_statement$/.test(expression.type)) return expression;
  return expression.type === 'return_statement' ? (children(expression)[0] ?? null) : null;
}

function keepsGraph(call: Node): boolean {
  return /\b(retain_graph|create_graph)\s*=\s*(?!False)/.test(call.childForFieldName('arguments')?.text ?? '');
}

/** A function of this file that back-propagates what it is given. */
function passedToBackward(node: Node, after: Changes, evaluator: Evaluator): void {
  const given = evaluator.knowledge.backPropagates(node);
  if (given.length > 0) freed(given, after);
}

/**
 * `backward()` on `names`: their buffers go, and those of every value whose memory their graph held. What stays of a
 * graph are its nodes, which keep the parameters.
 */
function freed(names: readonly string[], after: Changes): void {
  const roots = names.flatMap((name) => {
    const value = after.now.get(name);
    return value?.kind === 'tensor' && value.graph !== 'no' ? [value] : [];
  });
  for (const [name, value] of [...after.now]) {
    if (value.kind === 'tensor' && value.graph !== 'no') {
      const own = value.own;
      const isPart = roots.includes(value) || (own !== null && roots.some((root) => holdsSite(root.holds, own)));
      if (isPart) after.set(name, withFreedGraph(value));
    } else if (value.kind === 'tuple' && value.items.some((item) => item.kind === 'tensor' && isPartOf(item, roots))) {
      const items = value.items.map((item) =>
        item.kind === 'tensor' && isPartOf(item, roots) ? withFreedGraph(item) : item,
      );
      after.set(name, { ...value, items });
    }
  }
}

/** What is back-propagated is a loss with a graph, wherever it came from. */
function knownAsLoss(name: string, after: Changes): void {
  const value = after.now.get(name);
  if (value?.kind === 'unknown') after.set(name, unknownLoss(value));
}

/** `loss` of `loss.backward()`, `accelerator.backward(loss)`, `scaler.scale(loss).backward()`. */
function lossNames(call: Node): string[] {
  const given = children(call.childForFieldName('arguments') ?? call).filter((one) => one.type !== 'keyword_argument');
  const [first] = given;
  if (first !== undefined) return first.type === 'identifier' ? [first.text] : [];
  const object = call.childForFieldName('function')?.childForFieldName('object');
  if (object?.type === 'identifier') return [object.text];
  return object?.type === 'call' ? lossNames(object) : [];
}

function isPartOf(value: TensorValue, roots: readonly TensorValue[]): boolean {
  const { own } = value;
  return value.graph !== 'no' && own !== null && roots.some((root) => holdsSite(root.holds, own));
}

function unknownLoss(value: Value): Value {
  return value.kind === 'unknown'
    ? {
        ...{ kind: 'tensor', graph: 'yes', freed: 'yes', scalar: true, from: null, own: null, partOf: null },
        ...{ host: false, full: false, moved: null, output: null, holds: models(value.holds) },
      }
    : value;
}

function withFreedGraph(value: TensorValue): TensorValue {
  const holds = union(value.own === null ? noSites : [value.own], models(value.holds));
  return { ...value, freed: 'yes', holds };
}

const adding = /^(append|appendleft|add|insert|push|put|put_nowait|extend)$/;

/** `list.append(item)` and the like: the collection holds the item from now on. */
function added(call: Node, after: Changes, evaluator: Evaluator): void {
  const target = call.childForFieldName('function');
  const method = target?.childForFieldName('attribute')?.text ?? '';
  if (!adding.test(method)) return;
  const item = children(call.childForFieldName('arguments') ?? call).at(-1);
  if (item === undefined) return;
  const value = evaluator.evaluate(item, after.now);
  keep(target?.childForFieldName('object') ?? null, method === 'extend' ? element(value) : value, after, evaluator);
}

/** `collection` holds `value` as well. */
function keep(collection: Node | null, value: Value, after: Changes, evaluator: Evaluator): void {
  if (collection === null) return;
  const known = evaluator.evaluate(collection, after.now);
  if (collection.type === 'subscript') {
    keep(
      collection.childForFieldName('value'),
      known.kind === 'container' ? joined(known, value) : value,
      after,
      evaluator,
    );
    return;
  }
  if (known.kind !== 'container' || (collection.type !== 'identifier' && collection.type !== 'attribute')) return;
  after.set(collection.text, joined(known, value));
}

function joined(known: Value & { kind: 'container' }, value: Value): Value {
  const both = known.elements.kind === 'plain' ? value : join(known.elements, value);
  return { ...container(known.made, both, known.bounded), holds: union(known.holds, value.holds) };
}

/** `net.requires_grad_(True)` after it was frozen; of a tensor, it carries a graph from here on. */
function thaw(receiver: Node, after: Changes, evaluator: Evaluator): void {
  if (receiver.type !== 'identifier' && receiver.type !== 'attribute') return;
  const known = evaluator.evaluate(receiver, after.now);
  if (known.kind === 'tensor' && known.graph === 'no')
    after.set(receiver.text, { ...known, graph: 'yes', from: receiver });
  else if ((known.kind === 'instance' || known.kind === 'module') && known.frozen)
    after.set(receiver.text, { ...known, frozen: false });
}

/** What is frozen for a moment only is not frozen for others. */
function outside(value: Value, name: string, thawed: ReadonlySet<string>): Value {
  const isFrozen = (value.kind === 'instance' || value.kind === 'module') && value.frozen;
  return isFrozen && thawed.has(name) ? { ...value, frozen: false } : value;
}

function freeze(receiver: Node, after: Changes, evaluator: Evaluator): void {
  if (receiver.type !== 'identifier' && receiver.type !== 'attribute') return;
  const known = evaluator.evaluate(receiver, after.now);
  const isKnown = known.kind === 'instance' || known.kind === 'module';
  after.set(receiver.text, isKnown ? { ...known, frozen: true } : module(site(receiver, 'model'), { frozen: true }));
}

function bindAs(point: FlowPoint, statement: Node, after: Changes, evaluator: Evaluator): void {
  for (const own of point.own) {
    for (const node of descend(own)) {
      if (node.type !== 'as_pattern') continue;
      const [value, target] = children(node);
      const name =
        target === undefined ? null : target.type === 'as_pattern_target' ? (children(target)[0] ?? null) : target;
      const bound: Value =
        statement.type === 'with_statement'
          ? opened(evaluator.evaluate(value ?? null, after.now))
          : { kind: 'holder', role: 'exception', made: statement, host: false, holds: noSites };
      after.bind(name, bound);
    }
    if (statement.type === 'with_statement') effects(own, after, evaluator, false);
  }
}

/** `with a as b`: objects of classes of the file mostly answer themselves. */
function opened(value: Value): Value {
  return value.kind === 'instance' ? value : unknown;
}
