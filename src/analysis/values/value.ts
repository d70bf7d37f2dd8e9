import type { Node } from '../syntax/node';
import type { ClassScope } from '../scopes/module';

export type Tri = 'yes' | 'no' | 'maybe';

export interface TensorValue {
  kind: 'tensor';
  /** Whether it carries an autograd graph. */
  graph: Tri;
  /** Whether `backward()` has freed that graph's buffers. */
  freed: Tri;
  /** Has no dimensions: `.item()` is possible. */
  scalar: boolean;
  /** The expression that gave it its graph. */
  from: Node | null;
}

/** What an expression can be. Unknown stays unknown: no rule speaks about it. */
export type Value =
  | { kind: 'unknown' }
  /** A Python number, string, None: holds no tensor. */
  | { kind: 'plain' }
  | TensorValue
  | { kind: 'module'; loss: boolean }
  | { kind: 'instance'; of: ClassScope }
  | { kind: 'optimizer' }
  /** A list or a dict, by what it contains. */
  | { kind: 'container'; elements: Value; made: Node }
  | { kind: 'tuple'; items: Value[] };

export const unknown: Value = { kind: 'unknown' };
export const plain: Value = { kind: 'plain' };

export function tensor(graph: Tri, from: Node | null, scalar = false, freed: Tri = 'no'): TensorValue {
  return { kind: 'tensor', graph, from, scalar, freed };
}

function joinTri(a: Tri, b: Tri): Tri {
  return a === b ? a : 'maybe';
}

/** What is known when either may be. */
export function join(a: Value, b: Value): Value {
  if (a === b) return a;
  if (a.kind === 'tensor' && b.kind === 'tensor') {
    const from = a.from ?? b.from;
    return {
      ...{ kind: 'tensor', from, scalar: a.scalar && b.scalar },
      ...{ graph: joinTri(a.graph, b.graph), freed: joinTri(a.freed, b.freed) },
    };
  }
  // `total = 0.0` before the loop, a tensor in it.
  if (a.kind === 'plain' && b.kind === 'tensor') return { ...b, graph: b.graph === 'no' ? 'no' : 'maybe' };
  if (a.kind === 'tensor' && b.kind === 'plain') return join(b, a);
  if (a.kind === 'container' && b.kind === 'container') {
    return { kind: 'container', elements: join(a.elements, b.elements), made: a.made };
  }
  if (a.kind === 'tuple' && b.kind === 'tuple' && a.items.length === b.items.length) {
    return { kind: 'tuple', items: a.items.map((item, index) => join(item, b.items[index] ?? unknown)) };
  }
  if (a.kind === 'module' && b.kind === 'module' && a.loss === b.loss) return a;
  if (a.kind === 'instance' && b.kind === 'instance' && a.of === b.of) return a;
  if (a.kind === b.kind && (a.kind === 'plain' || a.kind === 'optimizer')) return a;
  return unknown;
}

export function isSame(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  if (a.kind === 'tensor' && b.kind === 'tensor')
    return a.graph === b.graph && a.freed === b.freed && a.scalar === b.scalar;
  if (a.kind === 'container' && b.kind === 'container') return isSame(a.elements, b.elements);
  if (a.kind === 'tuple' && b.kind === 'tuple')
    return a.items.length === b.items.length && a.items.every((item, index) => isSame(item, b.items[index] ?? unknown));
  if (a.kind === 'module' && b.kind === 'module') return a.loss === b.loss;
  if (a.kind === 'instance' && b.kind === 'instance') return a.of === b.of;
  return true;
}

/** Names to values at one point. A name that is not there is not bound, or not known. */
export type Environment = ReadonlyMap<string, Value>;

export function joinEnvironments(a: Environment, b: Environment): Environment {
  const joined = new Map(a);
  for (const [name, value] of b) {
    const other = a.get(name);
    joined.set(name, other === undefined ? value : join(other, value));
  }
  return joined;
}

export function isSameEnvironment(a: Environment, b: Environment): boolean {
  if (a.size !== b.size) return false;
  for (const [name, value] of a) {
    const other = b.get(name);
    if (other === undefined || !isSame(value, other)) return false;
  }
  return true;
}
