import type { Node } from '../syntax/node';

/** What was made at a place; `recorded` is a tensor with its graph. */
export type Made = 'model' | 'tensor' | 'recorded' | 'checkpoint' | 'weights';

/** A place that makes objects; the objects of all its rounds are one. Two sites are the same when their ids are. */
export interface Site {
  id: number;
  node: Node;
  made: Made;
}

/** Few, each once. */
export type Sites = readonly Site[];

export const noSites: Sites = [];

/** Objects beyond this many are not told apart any more: they are left out. */
const mostSites = 24;

export function site(node: Node, made: Made): Site {
  return { id: node.id, node, made };
}

/** The same memory without a graph. */
export function unrecorded(own: Site | null): Site | null {
  return own?.made === 'recorded' ? { ...own, made: 'tensor' } : own;
}

/** Results with a graph that both keep alive: what is back-propagated from one goes through the other's, too. */
export function sharedGraph(a: Sites, b: Sites): Sites {
  const isRecorded = (one: Site): boolean => one.made === 'recorded';
  return a.filter((one) => isRecorded(one) && b.some((other) => isRecorded(other) && other.id === one.id));
}

/** Every site of either; `a` itself where it has all of `b`. */
export function union(a: Sites, b: Sites): Sites {
  if (b.length === 0 || a === b) return a;
  if (a.length === 0) return b;
  const added = b.filter((one) => !holdsSite(a, one));
  return added.length === 0 ? a : [...a, ...added].slice(0, mostSites);
}

export function holdsSite(sites: Sites, wanted: Site): boolean {
  return sites.some((one) => one.id === wanted.id);
}

export function models(sites: Sites): Sites {
  return sites.length === 0 ? noSites : sites.filter((one) => one.made === 'model');
}

/** In one order: values that come about in the same way hold them so. */
export function areSameSites(a: Sites, b: Sites): boolean {
  return a === b || (a.length === b.length && a.every((one, index) => one.id === b[index]?.id));
}
