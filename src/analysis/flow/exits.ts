import { joinEnvironments, type Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import type { Node } from '../syntax/node';
import { livenessOf } from './liveness';
import { namesAt } from './names';
import { isInside } from './within';

/** What is known where control leaves a statement by its end. */
export interface Exit {
  /** The points it goes on to. */
  next: readonly number[];
  environment: Environment;
  /** Names that are bound for certain. */
  bound: ReadonlySet<string>;
  /** Names that something reads later before they are bound anew, in a further round of a loop around it as well. */
  live: ReadonlySet<string>;
}

/** Null for a statement that control never leaves by its end, as a `return`. */
export function exitOf(statement: Node, one: Interpreted): Exit | null {
  const { points } = one.graph;
  const next = new Set<number>();
  let known: { environment: Environment; bound: ReadonlySet<string> } | null = null;
  for (const [id, point] of points.entries()) {
    if (!isInside(point.syntax, statement)) continue;
    const out = point.next.filter((to) => !isInside(points[to]?.syntax ?? statement, statement));
    const isEnd = point.next.length === 0 && !/^(return|raise)_statement$/.test(point.syntax.type);
    const environment = one.after.get(point.syntax.id);
    if ((out.length === 0 && !isEnd) || environment === undefined) continue;
    for (const to of out) next.add(to);
    const bound = boundAfter(id, one);
    known =
      known === null
        ? { environment, bound }
        : { environment: joinEnvironments(known.environment, environment), bound: common(known.bound, bound) };
  }
  return known === null ? null : { ...known, next: [...next], live: liveAt(next, one) };
}

function common(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...one].filter((name) => other.has(name)));
}

function boundAfter(id: number, { graph, scope }: Interpreted): ReadonlySet<string> {
  const bound = new Set(livenessOf(graph, scope.body, scope.parameters).boundBefore(id));
  const names = namesAt(graph)[id];
  // A loop that is left has bound its target only if it ran a round.
  if (graph.points[id]?.syntax.type !== 'for_statement') for (const name of names?.writes ?? []) bound.add(name);
  for (const name of names?.deletes ?? []) bound.delete(name);
  return bound;
}

/** Names that are read from these points on. */
function liveAt(points: Iterable<number>, { graph, scope }: Interpreted): ReadonlySet<string> {
  const liveness = livenessOf(graph, scope.body, scope.parameters);
  const names = namesAt(graph);
  const live = new Set<string>();
  for (const id of points) {
    for (const name of names[id]?.reads ?? []) live.add(name);
    for (const name of liveness.liveAfter(id)) if (names[id]?.writes.has(name) !== true) live.add(name);
  }
  return live;
}
