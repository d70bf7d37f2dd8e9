import type { Node } from '../syntax/node';
import type { ClassScope, FunctionScope } from '../scopes/module';
import { areSameSites, noSites, union, type Site, type Sites } from './sites';

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
  /** Where its own memory comes from; null where that is not known. */
  own: Site | null;
  /** Objects that live as long as it does: its own memory, a view's base, whatever its graph saved. */
  holds: Sites;
  /** The tensor it is a view of has more elements than it. */
  partOf: Node | null;
  /** Surely in host memory. */
  host: boolean;
  /** What a model answered, or as large: neither reduced nor picked from. */
  full: boolean;
  /** It came through `.cpu()` or the like with its graph. */
  moved: Node | null;
  /** A model computed it, from something smaller, larger, or not known; null for what no model computed. */
  output: 'larger' | 'smaller' | 'unknown' | null;
}

export interface ModuleValue {
  kind: 'module';
  loss: boolean;
  /** Its parameters take no gradient. */
  frozen: boolean;
  /** A parameter-free layer (an activation, pooling, dropout): what it answers carries a graph only if its input does. */
  bare: boolean;
  /** Size of its output: larger than its input, smaller, about the same, or not known. */
  answers: 'larger' | 'smaller' | 'same' | 'unknown';
  holds: Sites;
}

/** An object of a class of this file. */
export interface InstanceValue {
  kind: 'instance';
  of: ClassScope;
  frozen: boolean;
  holds: Sites;
}

/** A list, a dict or another collection, by what it contains. */
export interface ContainerValue {
  kind: 'container';
  elements: Value;
  made: Node;
  /** It drops its oldest elements by itself. */
  bounded: boolean;
  holds: Sites;
}

/** An object that keeps others alive, by its role. */
export interface HolderValue {
  kind: 'holder';
  role: 'optimizer' | 'scheduler' | 'checkpoint' | 'weights' | 'generator' | 'handle' | 'exception' | 'queue';
  made: Node;
  /** Of a checkpoint: it was loaded to the CPU. Of weights: they were copied to it. */
  host: boolean;
  holds: Sites;
}

/** What an expression can be. Unknown stays unknown: no rule speaks about it. */
export type Value =
  | { kind: 'unknown'; holds: Sites }
  /** A Python number, string, None: holds no tensor. */
  | { kind: 'plain'; holds: Sites }
  | TensorValue
  | ModuleValue
  | InstanceValue
  | ContainerValue
  | HolderValue
  | { kind: 'function'; scope: FunctionScope; holds: Sites }
  | { kind: 'tuple'; items: Value[]; holds: Sites };

export const unknown: Value = { kind: 'unknown', holds: noSites };
export const plain: Value = { kind: 'plain', holds: noSites };
/** `None`: where something else may stand as well, what is done with it says that it is that. */
export const none: Value = { kind: 'plain', holds: noSites };

export function unknownHolding(holds: Sites): Value {
  return holds.length === 0 ? unknown : { kind: 'unknown', holds };
}

export function tuple(items: Value[]): Value {
  return { kind: 'tuple', items, holds: items.reduce<Sites>((all, item) => union(all, item.holds), noSites) };
}

/** A tensor with memory of its own. */
export function tensor(own: Site, more: Partial<Omit<TensorValue, 'kind' | 'own'>> = {}): TensorValue {
  // Written out: tensors are what is made most.
  return {
    kind: 'tensor',
    graph: more.graph ?? 'no',
    freed: more.freed ?? 'no',
    scalar: more.scalar ?? false,
    from: more.from ?? null,
    own,
    holds: more.holds === undefined || more.holds.length === 0 ? [own] : union([own], more.holds),
    partOf: more.partOf ?? null,
    host: more.host ?? false,
    full: more.full ?? false,
    moved: more.moved ?? null,
    output: more.output ?? null,
  };
}

export function module(site: Site, more: Partial<Omit<ModuleValue, 'kind'>> = {}): ModuleValue {
  return {
    ...{ kind: 'module', loss: false, frozen: false, bare: false, answers: 'unknown', ...more },
    holds: union([site], more.holds ?? noSites),
  };
}

export function container(made: Node, elements: Value, bounded = false): ContainerValue {
  // Containers of containers of containers are not followed.
  const deep = elements.kind === 'container' && elements.elements.kind === 'container';
  const inner = deep ? unknownHolding(elements.holds) : elements;
  return { kind: 'container', elements: inner, made, bounded, holds: elements.holds };
}

/** What iterating over a value, or taking one of its items, gives. */
export function element(value: Value): Value {
  switch (value.kind) {
    case 'container':
      return value.elements;
    case 'tensor':
      return { ...value, scalar: false, full: false };
    case 'tuple':
      return value.items.length > 0 ? value.items.reduce(join) : unknown;
    case 'plain':
      return plain;
    default:
      return unknownHolding(value.holds);
  }
}

function joinTri(a: Tri, b: Tri): Tri {
  return a === b ? a : 'maybe';
}

function joinTensors(a: TensorValue, b: TensorValue): TensorValue {
  return {
    kind: 'tensor',
    graph: joinTri(a.graph, b.graph),
    freed: joinTri(a.freed, b.freed),
    scalar: a.scalar && b.scalar,
    from: a.from ?? b.from,
    own: a.own ?? b.own,
    holds: union(a.holds, b.holds),
    partOf: a.partOf !== null && b.partOf !== null ? a.partOf : null,
    host: a.host && b.host,
    full: a.full && b.full,
    moved: a.moved ?? b.moved,
    output: a.output === b.output ? a.output : 'unknown',
  };
}

/** What is known when either may be. */
export function join(a: Value, b: Value): Value {
  if (a === b || b === none) return a;
  if (a === none) return b;
  const holds = union(a.holds, b.holds);
  if (a.kind === 'tensor' && b.kind === 'tensor') return joinTensors(a, b);
  // `total = 0.0` before the loop, a tensor in it; `model = None` before, a model in it.
  if (a.kind === 'plain' && b.kind === 'tensor') return { ...b, graph: b.graph === 'no' ? 'no' : 'maybe' };
  if (a.kind === 'plain') return b;
  if (b.kind === 'plain') return join(b, a);
  if (a.kind === 'container' && b.kind === 'container') {
    return { ...a, elements: join(a.elements, b.elements), bounded: a.bounded && b.bounded, holds };
  }
  if (a.kind === 'tuple' && b.kind === 'tuple' && a.items.length === b.items.length) {
    return { kind: 'tuple', items: a.items.map((item, index) => join(item, b.items[index] ?? unknown)), holds };
  }
  if (a.kind === 'module' && b.kind === 'module' && a.loss === b.loss) {
    const frozen = a.frozen || b.frozen;
    return { ...a, frozen, bare: a.bare && b.bare, answers: a.answers === b.answers ? a.answers : 'unknown', holds };
  }
  if (a.kind === 'instance' && b.kind === 'instance' && a.of === b.of) {
    return { ...a, frozen: a.frozen || b.frozen, holds };
  }
  if (a.kind === 'holder' && b.kind === 'holder' && a.role === b.role) return { ...a, host: a.host && b.host, holds };
  if (a.kind === 'function' && b.kind === 'function' && a.scope === b.scope) return { ...a, holds };
  return unknownHolding(holds);
}

/** What the items of a collection are: where one is a larger output, the collection holds that much. */
export function joinItems(a: Value, b: Value): Value {
  const both = join(a, b);
  const isLarger = [a, b].some((item) => item.kind === 'tensor' && item.output === 'larger');
  return both.kind === 'tensor' && isLarger ? { ...both, output: 'larger' } : both;
}

export function isSame(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || !areSameSites(a.holds, b.holds)) return false;
  switch (a.kind) {
    case 'tensor': {
      const other = b as TensorValue;
      return (
        a.graph === other.graph &&
        a.freed === other.freed &&
        a.scalar === other.scalar &&
        a.full === other.full &&
        a.host === other.host &&
        (a.partOf === null) === (other.partOf === null)
      );
    }
    case 'container': {
      const other = b as ContainerValue;
      return a.bounded === other.bounded && isSame(a.elements, other.elements);
    }
    case 'tuple': {
      const other = b as typeof a;
      return (
        a.items.length === other.items.length && a.items.every((item, at) => isSame(item, other.items[at] ?? unknown))
      );
    }
    case 'module': {
      const other = b as ModuleValue;
      return a.loss === other.loss && a.frozen === other.frozen && a.bare === other.bare && a.answers === other.answers;
    }
    case 'instance':
      return a.of === (b as InstanceValue).of && a.frozen === (b as InstanceValue).frozen;
    case 'function':
      return a.scope === (b as typeof a).scope;
    case 'holder':
      return a.role === (b as HolderValue).role && a.host === (b as HolderValue).host;
    default:
      return true;
  }
}
