import { livenessOf, type Liveness } from '../flow/liveness';
import { loopsAround } from '../flow/loops';
import { namesAt } from '../flow/names';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { holdsSite, models, type Sites } from '../values/sites';
import type { Value } from '../values/value';
import type { Program } from './rule';
import { worksWithTensors } from './tensorWork';

/** A name that stays bound although nothing reads it any more, with what it holds. */
export interface Dead {
  name: string;
  value: Value;
}

export function livenessIn({ graph, scope }: Interpreted): Liveness {
  return livenessOf(graph, scope.body, scope.parameters);
}

/** Whether a value may hold much memory of the GPU: not a number, not a loss whose graph is gone. */
export function isBig(value: Value): boolean {
  switch (value.kind) {
    case 'tensor':
      // A parameter lives with its model.
      if (value.own?.made === 'model') return false;
      return !value.host && ((value.full && !value.scalar) || (value.graph === 'yes' && value.freed === 'no'));
    case 'container':
      return isBig(value.elements);
    case 'tuple':
      return value.items.some(isBig);
    case 'holder':
      return (value.role === 'checkpoint' || value.role === 'weights') && !value.host;
    default:
      return false;
  }
}

/**
 * Names of the function that are bound after a point, are read nowhere after it and hold something big that no name in
 * use holds as well. Parameters are not among them: the caller has those anyway.
 */
export function deadAfter(point: number, one: Interpreted): Dead[] {
  const liveness = livenessIn(one);
  const live = liveness.liveAfter(point);
  const environment = one.after.get(one.graph.points[point]?.syntax.id ?? -1);
  if (environment === undefined) return [];
  const all = [...environment].filter(([name]) => !name.includes('.'));
  const isInUse = (name: string): boolean =>
    live.has(name) || liveness.isCaptured(name) || one.scope.parameters.includes(name);
  const used = all.filter(([name]) => isInUse(name));
  return all.flatMap(([name, value]) => {
    if (isInUse(name) || !isBig(value)) return [];
    const isShared = used.some(([, other]) => sharesMemory(value, other));
    return isShared ? [] : [{ name, value }];
  });
}

/** Whether letting go of `value` leaves its own memory to `other`. */
function sharesMemory(value: Value, other: Value): boolean {
  const own = ownSites(value);
  return own.length > 0 && own.every((site) => holdsSite(other.holds, site));
}

/** The objects that a value is, not those it keeps as well. */
export function ownSites(value: Value): Sites {
  if (value.kind === 'tensor') return value.own === null ? [] : [value.own];
  if (value.kind === 'tuple') return value.items.flatMap(ownSites);
  return value.kind === 'container' ? ownSites(value.elements) : value.holds;
}

/** Names that hold a model's parameters: the model, its optimizer, results whose graph reaches them. */
export function holdersOf(sites: Sites, environment: Iterable<readonly [string, Value]>): Dead[] {
  const wanted = models(sites);
  return [...environment].flatMap(([name, value]) =>
    !name.includes('.') && value.kind !== 'unknown' && wanted.some((site) => holdsSite(value.holds, site))
      ? [{ name, value }]
      : [],
  );
}

/**
 * The first statement after a point that computes with tensors, going forward: the rounds of a loop around the point
 * that come next are not looked at.
 */
export function workAhead(point: number, one: Interpreted, program: Program): Node | null {
  const start = one.graph.points[point];
  if (start === undefined) return null;
  const seen = new Set<number>([point]);
  const left = [...start.next];
  const found: Node[] = [];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const next = one.graph.points[id];
    if (seen.has(id) || next === undefined || next.syntax.startIndex < start.syntax.startIndex) continue;
    seen.add(id);
    left.push(...next.next);
    if (computes(next.syntax, one, program)) found.push(next.syntax);
  }
  return found.sort((a, b) => a.startIndex - b.startIndex)[0] ?? null;
}

/** Names that a statement lets go of: `del a, b`, `a = None`. */
export function letGo(statement: Node): string[] {
  if (statement.type === 'delete_statement') {
    return children(statement)
      .flatMap((one) => (one.type === 'expression_list' || one.type === 'tuple' ? children(one) : [one]))
      .filter((one) => one.type === 'identifier')
      .map((one) => one.text);
  }
  const assignment = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  if (assignment?.type !== 'assignment' || assignment.childForFieldName('right')?.type !== 'none') return [];
  const left = assignment.childForFieldName('left');
  return left?.type === 'identifier' ? [left.text] : [];
}

/** Whether a statement computes with tensors by itself: a loop's head does when its body does. */
export function computes(statement: Node, one: Interpreted, program: Program): boolean {
  if (/^(if|try|with|match)_statement$|_clause$|_definition$/.test(statement.type)) return false;
  return worksWithTensors(statement, one, program);
}

/** Whether a name is bound at a point for certain: bound on every path, or beside one that is read on the way there. */
export function isCertainlyBound(name: string, point: number, one: Interpreted): boolean {
  const liveness = livenessIn(one);
  if (liveness.boundBefore(point).has(name)) return true;
  const names = namesAt(one.graph);
  const target = one.graph.points[point]?.syntax;
  const block = target?.parent;
  if (target === undefined || !block) return false;
  const before = children(block).filter((other) => other.endIndex <= target.startIndex);
  const loop = before.findLast((other) => other.type === 'for_statement' && bindsInEveryRound(other, name));
  if (loop === undefined) return false;
  // What reads a name of the loop after it would have raised an error had it run no round.
  return before.some((other) => {
    const id = other.startIndex >= loop.endIndex ? one.graph.at.get(other.id) : undefined;
    return id !== undefined && [...(names[id]?.reads ?? [])].some((read) => bindsInEveryRound(loop, read));
  });
}

/** Whether each round of a `for` loop binds a name, as its target or at the top of its body. */
export function bindsInEveryRound(loop: Node, name: string): boolean {
  if (loop.type !== 'for_statement') return false;
  const target = loop.childForFieldName('left');
  if (target !== null && [...descend(target)].some((node) => node.text === name)) return true;
  const body = loop.childForFieldName('body');
  return (body === null ? [] : children(body)).some((statement) => {
    const assignment = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
    const left = assignment?.type === 'assignment' ? assignment.childForFieldName('left') : null;
    return left !== null && left !== undefined && [...descend(left)].some((node) => node.text === name);
  });
}

/** The loop whose next round runs what a statement runs, innermost first. */
export function innermostLoop(statement: Node): Node | null {
  return loopsAround(statement)[0] ?? null;
}
