import { text, type Finding } from '../finding';
import { removedArgument } from '../fixes/removedArgument';
import { reachOf } from '../flow/backward';
import { loopsAround } from '../flow/loops';
import { keyword } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { backPropagated, namesIn, statementAround } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { sharedGraph, type Sites } from '../values/sites';
import type { TensorValue, Value } from '../values/value';
import { reason } from './keptGraph';
import { tensorOf } from './stores';
import type { Program, Rule } from './rule';

/**
 * P08 `needless-retain-graph`: `backward(retain_graph=True)` although nothing goes through that graph again: its
 * activations stay until the names that reach them are bound anew.
 */
export const needlessRetainGraph: Rule = {
  slugs: ['needless-retain-graph'],
  mentions: /retain_graph/,
  *find(one, program) {
    for (const { syntax, own } of one.graph.points) {
      const environment = one.before.get(syntax.id);
      if (environment === undefined) continue;
      for (const call of own.flatMap((part) => [...descend(part)]).filter((node) => node.type === 'call')) {
        const root = retained(call) ? rootOf(call, environment, one) : null;
        if (root === null || isUsedAgain(root, call, syntax, one, program)) continue;
        yield finding(call, root, program);
      }
    }
  },
};

function retained(call: Node): boolean {
  return (
    calledBackward(call) && keyword(call, 'retain_graph')?.type === 'true' && keyword(call, 'create_graph') === null
  );
}

function calledBackward(call: Node): boolean {
  return call.childForFieldName('function')?.childForFieldName('attribute')?.text === 'backward';
}

/** What is back-propagated, where it surely carries a graph that was recorded in this function. */
function rootOf(call: Node, environment: Environment, one: Interpreted): TensorValue | null {
  const [value] = rootsOf(call, environment, one);
  const isKnown = value?.kind === 'tensor' && value.graph === 'yes' && value.from !== null;
  return isKnown ? value : null;
}

function rootsOf(call: Node, environment: Environment, one: Interpreted): Value[] {
  const given = children(call.childForFieldName('arguments') ?? call).filter(
    (node) => node.type !== 'keyword_argument',
  );
  const target = call.childForFieldName('function');
  const isMethod = calledBackward(call) && given.length === 0;
  const nodes = isMethod ? [target?.childForFieldName('object') ?? null] : given;
  return nodes.map((node) => one.evaluator.evaluate(node, environment));
}

function isUsedAgain(root: TensorValue, call: Node, statement: Node, one: Interpreted, program: Program): boolean {
  const { body } = one.scope;
  const isInside = (node: Node): boolean => body.startIndex <= node.startIndex && node.endIndex <= body.endIndex;
  const graph = root.holds.filter((site) => site.made === 'recorded');
  // A graph that came in with a parameter, or from the last round, is somebody else's as well.
  if (graph.some((site) => !isInside(site.node)) || isCarried(graph, statement, one)) return true;
  const isShared = (value: Value): boolean =>
    value.kind === 'unknown' ? value.holds.length > 0 : sharedGraph(graph, value.holds).length > 0;
  for (const point of one.graph.points) {
    const environment = one.before.get(point.syntax.id);
    if (environment === undefined) continue;
    for (const other of point.own.flatMap((part) => [...descend(part)])) {
      if (other === call || other.type !== 'call') continue;
      const isBackward = backPropagated(other).length > 0;
      const owned = isBackward ? [] : one.evaluator.knowledge.backPropagates(other);
      if (isBackward && rootsOf(other, environment, one).some((value) => value.kind === 'unknown' || isShared(value)))
        return true;
      if (owned.some((name) => isShared(environment.get(name) ?? root))) return true;
    }
  }
  return leaves(graph, statement, one, program);
}

/** A name that the loop carries from round to round reaches into the graph. */
function isCarried(graph: Sites, statement: Node, one: Interpreted): boolean {
  return loopsAround(statement).some((loop) => {
    const environment = one.before.get(loop.id);
    const body = loop.childForFieldName('body');
    if (environment === undefined || body === null) return false;
    return [...environment].some(([name, value]) => {
      const carried = tensorOf(value);
      if (carried === null || carried.graph === 'no' || sharedGraph(graph, value.holds).length === 0) return false;
      return isReadBeforeBound(name, loop, one);
    });
  });
}

function isReadBeforeBound(name: string, loop: Node, one: Interpreted): boolean {
  if (name.includes('.')) return true;
  for (const { syntax, own } of one.graph.points) {
    if (syntax.startIndex <= loop.startIndex || syntax.endIndex > loop.endIndex) continue;
    for (const part of own) {
      const assignment = [...descend(part)].find((node) => node.type === 'assignment');
      const read = assignment?.childForFieldName('right') ?? part;
      if (namesIn(read).includes(name)) return true;
      const left = assignment?.childForFieldName('left');
      if (left && namesIn(left).includes(name)) return false;
    }
  }
  return false;
}

/** Something of the graph is returned, or kept in an attribute: whoever gets it may back-propagate it. */
function leaves(graph: Sites, statement: Node, one: Interpreted, program: Program): boolean {
  const environment = one.after.get(statement.id);
  const point = one.graph.at.get(statement.id);
  if (environment === undefined || point === undefined) return true;
  const { result } = reachOf(one.scope, program.module);
  return [...environment].some(([name, value]) => {
    const carrying = tensorOf(value);
    if (carrying === null || carrying.graph === 'no' || sharedGraph(graph, value.holds).length === 0) return false;
    return name.includes('.') || result.after[point]?.has(name) === true;
  });
}

function finding(call: Node, root: TensorValue, { source }: Program): Finding {
  const argument = children(call.childForFieldName('arguments') ?? call).find((one) =>
    one.text.startsWith('retain_graph'),
  );
  const statement = statementAround(call);
  return {
    ...{ rule: 'needless-retain-graph', severity: 'warning', start: statement.startIndex, end: statement.endIndex },
    message: text(
      'retain_graph=True keeps the activations of this graph, and nothing goes through it again. Without it backward() frees them.',
    ),
    chain: [reason(root.from ?? call, text('The graph is recorded here; no later backward() reaches it.'))],
    fixes:
      argument === undefined
        ? []
        : [{ title: text('Remove {0}', argument.text), safe: true, edits: [removedArgument(argument, source)] }],
  };
}
