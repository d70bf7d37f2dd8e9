import type { Node } from '../syntax/node';
import { flowGraph, type FlowGraph } from '../flow/graph';
import type { FunctionScope } from '../scopes/module';
import { children, descend } from '../syntax/parser';
import { assignmentOf, backPropagated } from '../syntax/statements';
import { Evaluator, combine, type Knowledge } from './evaluate';
import { frozenBy } from './frozen';
import { isSameEnvironment, join, joinEnvironments, plain, unknown, type Environment, type Value } from './value';

/** A function with what is known before each of its statements. */
export interface Interpreted {
  scope: FunctionScope;
  evaluator: Evaluator;
  /** By the id of the statement's syntax node. */
  before: Map<number, Environment>;
  result: Value;
  /** Attributes of `self` that are set here. */
  attributes: Map<string, Value>;
  /** Of the top level: every name with all that it is ever bound to. */
  globals: Map<string, Value>;
}

/** Visits per point before a value that keeps changing is left as it is. */
const mostVisits = 40;

/** Follows the values through a function until nothing changes any more. */
export function interpret(scope: FunctionScope, knowledge: Knowledge, start: Environment): Interpreted {
  const graph: FlowGraph = flowGraph(scope.body);
  const evaluator = new Evaluator(scope, knowledge);
  const interpreted: Interpreted = {
    ...{ scope, evaluator, before: new Map(), attributes: new Map(), globals: new Map() },
    result: unknown,
  };
  const at: (Environment | undefined)[] = [];
  at[graph.entry] = start;
  const visits = new Map<number, number>();
  const work = [graph.entry];
  while (work.length > 0) {
    const id = work.shift() as number;
    const point = graph.points[id];
    const environment = at[id];
    if (point === undefined || environment === undefined) continue;
    visits.set(id, (visits.get(id) ?? 0) + 1);
    if ((visits.get(id) ?? 0) > mostVisits) continue;
    const after = id === graph.entry ? environment : transfer(point.syntax, environment, evaluator);
    for (const next of point.next) {
      const known = at[next];
      const joined = known === undefined ? after : joinEnvironments(known, after);
      if (known !== undefined && isSameEnvironment(known, joined)) continue;
      at[next] = joined;
      if (!work.includes(next)) work.push(next);
    }
  }
  summarise(graph, at, interpreted);
  return interpreted;
}

function summarise(graph: FlowGraph, at: (Environment | undefined)[], interpreted: Interpreted): void {
  let result: Value | null = null;
  graph.points.forEach((point, id) => {
    const environment = at[id];
    if (environment === undefined || id === graph.entry) return;
    interpreted.before.set(point.syntax.id, environment);
    if (interpreted.scope.body.type === 'module') collectGlobals(point.syntax, environment, interpreted);
    if (point.syntax.type === 'return_statement') {
      const value = interpreted.evaluator.evaluate(children(point.syntax)[0] ?? null, environment);
      result = result === null ? value : join(result, value);
    }
    const [self, frozen] = frozenBy(point.syntax)?.split('.') ?? [];
    if (self === interpreted.scope.parameters[0] && frozen !== undefined) interpreted.attributes.set(frozen, unknown);
    const assigned = assignmentOf(point.syntax);
    const left = assigned?.childForFieldName('left');
    if (assigned?.type !== 'assignment' || left?.type !== 'attribute') return;
    if (left.childForFieldName('object')?.text !== interpreted.scope.parameters[0]) return;
    const name = left.childForFieldName('attribute')?.text ?? '';
    const value = interpreted.evaluator.evaluate(assigned.childForFieldName('right'), environment);
    const known = interpreted.attributes.get(name);
    interpreted.attributes.set(name, known === undefined ? value : join(known, value));
  });
  interpreted.result = result ?? plain;
}

/** Functions run at any time: a name that is one thing here and another there is unknown to them. */
function collectGlobals(statement: Node, environment: Environment, { evaluator, globals }: Interpreted): void {
  for (const [name, value] of transfer(statement, environment, evaluator)) {
    const known = globals.get(name);
    globals.set(name, known === undefined ? value : join(known, value));
  }
}

/** What is known after a statement. */
function transfer(statement: Node, environment: Environment, evaluator: Evaluator): Environment {
  const after = new Map(environment);
  const frozen = frozenBy(statement);
  if (frozen !== null) after.set(frozen, unknown);
  switch (statement.type) {
    case 'for_statement': {
      const elements = Evaluator.element(evaluator.evaluate(statement.childForFieldName('right'), environment));
      bind(statement.childForFieldName('left'), elements, after);
      return after;
    }
    case 'delete_statement':
      for (const name of descend(statement)) if (name.type === 'identifier') after.delete(name.text);
      return after;
    case 'with_statement':
      for (const node of descend(statement, (inner) => inner.type !== 'block')) {
        if (node.type === 'as_pattern_target') bind(children(node)[0] ?? null, unknown, after);
      }
      return after;
  }
  const assignment = assignmentOf(statement);
  if (assignment !== null) {
    const left = assignment.childForFieldName('left');
    const right = evaluator.evaluate(assignment.childForFieldName('right'), environment);
    const value =
      assignment.type === 'augmented_assignment'
        ? combine(assignment, [evaluator.evaluate(left, environment), right])
        : right;
    bind(left, value, after);
  }
  const call = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  if (call?.type === 'call') {
    evaluator.evaluate(call, environment);
    for (const name of backPropagated(call)) {
      const value = after.get(name);
      if (value?.kind === 'tensor') after.set(name, { ...value, freed: keepsGraph(call) ? value.freed : 'yes' });
    }
    append(call, environment, after, evaluator);
  }
  return after;
}

function keepsGraph(call: Node): boolean {
  return /\b(retain_graph|create_graph)\s*=\s*True\b/.test(call.childForFieldName('arguments')?.text ?? '');
}

function append(call: Node, environment: Environment, after: Map<string, Value>, evaluator: Evaluator): void {
  const target = call.childForFieldName('function');
  const list = target?.childForFieldName('object');
  if (target?.childForFieldName('attribute')?.text !== 'append' || list?.type !== 'identifier') return;
  const container = environment.get(list.text);
  const [item] = children(call.childForFieldName('arguments') ?? call);
  if (container?.kind !== 'container' || item === undefined) return;
  const value = evaluator.evaluate(item, environment);
  const elements = container.elements.kind === 'plain' ? value : join(container.elements, value);
  after.set(list.text, { ...container, elements: elements.kind === 'container' ? unknown : elements });
}

function bind(target: Node | null, value: Value, into: Map<string, Value>): void {
  if (target === null) return;
  switch (target.type) {
    case 'identifier':
    case 'attribute':
      into.set(target.text, value);
      return;
    case 'pattern_list':
    case 'tuple_pattern':
    case 'list_pattern':
      children(target).forEach((part, index) => {
        const item = value.kind === 'tuple' ? (value.items[index] ?? unknown) : Evaluator.element(value);
        bind(part, item, into);
      });
  }
}
