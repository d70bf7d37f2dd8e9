import { isSame, join, type Value } from './value';

/** Names and dotted names to values at one point. A name that is not there is not bound, or not known. */
export interface Environment extends Iterable<readonly [string, Value]> {
  get(name: string): Value | undefined;
  has(name: string): boolean;
}

/** Every so many layers one holds all names, so that a look-up never goes far. */
const mostLayers = 12;

/**
 * An environment as the changes to another: most statements change one name or none, and copies of all names at each of
 * them cost more than everything else.
 */
class Layer implements Environment {
  readonly level: number;
  private readonly all: Map<string, Value> | null;

  constructor(
    readonly parent: Layer | null,
    /** Undefined: not bound any more. */
    readonly own: ReadonlyMap<string, Value | undefined>,
  ) {
    this.level = parent === null ? 0 : parent.level + 1;
    this.all = this.level % mostLayers === 0 ? this.collect() : null;
  }

  get(name: string): Value | undefined {
    if (this.all !== null) return this.all.get(name);
    const value = this.own.get(name);
    if (value !== undefined || this.own.has(name)) return value;
    return this.parent?.get(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  [Symbol.iterator](): Iterator<readonly [string, Value]> {
    return (this.all ?? this.collect()).entries();
  }

  private collect(): Map<string, Value> {
    const layers: Layer[] = [];
    let base: Layer | null = this.parent;
    while (base !== null && base.all === null) {
      layers.push(base);
      base = base.parent;
    }
    const all = new Map(base?.all);
    for (const layer of [...layers.reverse(), this]) {
      for (const [name, value] of layer.own) {
        if (value === undefined) all.delete(name);
        else all.set(name, value);
      }
    }
    return all;
  }
}

/** An environment with these names and no others. */
export function environmentOf(names: ReadonlyMap<string, Value>): Environment {
  return new Layer(null, names);
}

/** `environment` with some names bound to other values, or (undefined) not bound any more. */
export function changed(environment: Environment, names: ReadonlyMap<string, Value | undefined>): Environment {
  if (names.size === 0) return environment;
  const parent = environment instanceof Layer ? environment : new Layer(null, new Map(environment));
  return new Layer(parent, names);
}

/** What is known where control comes from either; `a` itself where `b` adds nothing. */
export function joinEnvironments(a: Environment, b: Environment): Environment {
  if (a === b || !(a instanceof Layer) || !(b instanceof Layer)) return a;
  const ancestor = commonAncestor(a, b);
  const names =
    ancestor === null
      ? new Set([...b].map(([name]) => name))
      : new Set([...changedBetween(ancestor, a), ...changedBetween(ancestor, b)]);
  const changes = new Map<string, Value>();
  for (const name of names) {
    const [one, other] = [a.get(name), b.get(name)];
    if (other === undefined || one === other) continue;
    const both = one === undefined ? other : join(one, other);
    if (one === undefined || !isSame(one, both)) changes.set(name, both);
  }
  return changed(a, changes);
}

/** Names that changed from an environment to one that came from it. */
function changedBetween(ancestor: Layer, layer: Layer): Set<string> {
  const names = new Set<string>();
  for (let at: Layer | null = layer; at !== null && at !== ancestor; at = at.parent)
    for (const name of at.own.keys()) names.add(name);
  return names;
}

function commonAncestor(a: Layer, b: Layer): Layer | null {
  let [one, other]: [Layer | null, Layer | null] = [a, b];
  while (one !== other) {
    if (one === null || other === null) return null;
    if (one.level >= other.level) one = one.parent;
    else other = other.parent;
  }
  return one;
}

/** Names that differ between an environment and the one it came from. */
export function differences(before: Environment, after: Environment): [string, Value][] {
  const found: [string, Value][] = [];
  const names =
    before instanceof Layer && after instanceof Layer && commonAncestor(before, after) === before
      ? changedBetween(before, after)
      : new Set([...after].map(([name]) => name));
  for (const name of names) {
    const value = after.get(name);
    if (value !== undefined && before.get(name) !== value) found.push([name, value]);
  }
  return found;
}
