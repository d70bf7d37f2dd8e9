import { isSame, join, type Value } from './value';

/** Names and dotted names to values at one point. A name that is not there is not bound, or not known. */
export type Environment = ReadonlyMap<string, Value>;

export function joinEnvironments(a: Environment, b: Environment): Environment {
  if (a === b) return a;
  let joined: Map<string, Value> | null = null;
  for (const [name, value] of b) {
    const other = a.get(name);
    if (other === value) continue;
    const both = other === undefined ? value : join(other, value);
    if (both === other) continue;
    joined ??= new Map(a);
    joined.set(name, both);
  }
  return joined ?? a;
}

export function isSameEnvironment(a: Environment, b: Environment): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, value] of a) {
    const other = b.get(name);
    if (other === undefined || !isSame(value, other)) return false;
  }
  return true;
}
