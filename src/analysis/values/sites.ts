import type { Node } from '../syntax/node';

/** What was made at a place. */
export type Made = 'model' | 'tensor' | 'checkpoint' | 'weights';

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
