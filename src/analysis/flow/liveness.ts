import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import type { FlowGraph } from './graph';
import { capturedNames, namesAt } from './names';

export interface Liveness {
  /** Names that are read after a point on some path before they are bound anew. */
  liveAfter(point: number): ReadonlySet<string>;
  /** Names that are bound before a point on every path to it. */
  boundBefore(point: number): ReadonlySet<string>;
  /** Names that inner functions mention, or all of them where `locals()` and the like can read any: never `del` them. */
  isCaptured(name: string): boolean;
}

const known = new WeakMap<FlowGraph, Liveness>();

/** Liveness and definite binding of a function's names; answers are kept with the graph. */
export function livenessOf(graph: FlowGraph, body: Node, parameters: readonly string[]): Liveness {
  let liveness = known.get(graph);
  if (liveness === undefined) {
    const after = readLive(graph);
    const before = readBound(graph, parameters);
    const captured = capturedNames(body);
    const reflects = usesReflection(body);
    liveness = {
      liveAfter: (point) => after[point] ?? new Set(),
      boundBefore: (point) => before[point] ?? new Set(),
      isCaptured: (name) => reflects || captured.has(name),
    };
    known.set(graph, liveness);
  }
  return liveness;
}

function readLive(graph: FlowGraph): Set<string>[] {
  const names = namesAt(graph);
  const after: Set<string>[] = graph.points.map(() => new Set());
  for (let changed = true; changed;) {
    changed = false;
    for (let id = graph.points.length - 1; id >= 0; id--) {
      const out = after[id] as Set<string>;
      const size = out.size;
      for (const next of graph.points[id]?.next ?? []) {
        const { reads, writes, deletes } = names[next] as (typeof names)[number];
        for (const name of reads) out.add(name);
        for (const name of after[next] as Set<string>) if (!writes.has(name) && !deletes.has(name)) out.add(name);
      }
      if (out.size !== size) changed = true;
    }
  }
  return after;
}

function readBound(graph: FlowGraph, parameters: readonly string[]): ReadonlySet<string>[] {
  const names = namesAt(graph);
  const before: (Set<string> | undefined)[] = graph.points.map(() => undefined);
  before[graph.entry] = new Set(parameters);
  for (let changed = true; changed;) {
    changed = false;
    graph.points.forEach((point, id) => {
      const here = before[id];
      if (here === undefined) return;
      const { writes, deletes } = names[id] as (typeof names)[number];
      // A `for` may run no round: its target is bound inside the body only.
      const isLoop = point.syntax.type === 'for_statement';
      for (const next of point.next) {
        const inside = isLoop && (graph.points[next]?.syntax.endIndex ?? 0) <= point.syntax.endIndex;
        const passes = (name: string): boolean => !deletes.has(name);
        const known = before[next];
        const bound = new Set([...here].filter(passes));
        if (!isLoop || inside) for (const name of writes) bound.add(name);
        if (known === undefined) {
          before[next] = bound;
          changed = true;
          continue;
        }
        for (const name of [...known]) {
          if (bound.has(name)) continue;
          known.delete(name);
          changed = true;
        }
      }
    });
  }
  return before.map((set) => set ?? new Set());
}

/** `locals()`, `vars()`, `globals()`, `eval`, `exec`: any name may be read by its text. */
function usesReflection(body: Node): boolean {
  for (const node of descend(body)) {
    if (node.type !== 'call') continue;
    const target = node.childForFieldName('function');
    if (target?.type === 'identifier' && /^(locals|vars|globals|eval|exec)$/.test(target.text)) return true;
  }
  return false;
}
