import { text, type Text } from '../finding';
import { ownSites } from '../rules/lifetimes';
import type { Node } from '../syntax/node';
import { assignmentOf } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { holdsSite, models, type Sites } from '../values/sites';
import type { Value } from '../values/value';

/** Who holds what a name holds. */
export interface Holders {
  value: Value;
  /** The name itself, first, and the others that may be deleted with it. */
  names: readonly string[];
  /** Attributes and the like: they live as long as what they are of. */
  elsewhere: readonly string[];
}

/** Everything that holds the object of a name. A text says that it is not known; null: it is nothing on a GPU. */
export function holdersOfSame(name: string, environment: Environment, one: Interpreted): Holders | Text | null {
  const value = environment.get(name) ?? null;
  if (value === null || value.kind === 'unknown') return whatItMayBe(name, one);
  if (value.kind === 'plain' || value.kind === 'function' || isLight(value)) return null;
  if (value.kind === 'holder' && value.role === 'optimizer')
    return { value, names: [name, ...sameHolder(name, value, environment)], elsewhere: [] };
  const sites = isModel(value) ? models(value.holds) : ownSites(value);
  if (sites.length === 0) return value.kind === 'holder' ? null : unclear(name);
  const keepers = keepersAmong(environment, sites, one);
  const names = new Set([name, ...keepers.filter((one) => !one.includes('.'))]);
  const elsewhere = keepers.filter((dotted) => !names.has(dotted.split('.')[0] ?? dotted));
  return { value, names: [...names], elsewhere };
}

/** Modules without parameters, and what has a handle on other things only. */
function isLight(value: Value): boolean {
  if (value.kind === 'module') return value.loss || value.bare;
  return value.kind === 'holder' && /^(scheduler|generator|handle|exception)$/.test(value.role);
}

export function isModel(value: Value): boolean {
  return value.kind === 'module' || value.kind === 'instance';
}

const unclear = (name: string): Text => text('It is not known what {0} holds, nor what else would keep it.', name);

/** Of a name whose value is not known: whether it is used as a model is. */
function whatItMayBe(name: string, one: Interpreted): Text | null {
  for (const { own, syntax } of one.graph.points) {
    const environment = one.before.get(syntax.id);
    for (const part of environment === undefined ? [] : own) {
      const mention = mentionOf(name, part);
      if (mention === null || environment === undefined) continue;
      const { kind } = one.evaluator.evaluate(mention, environment);
      if (kind !== 'unknown' && kind !== 'plain' && kind !== 'function') return unclear(name);
    }
  }
  return null;
}

function mentionOf(name: string, node: Node): Node | null {
  if (node.type === 'identifier') return node.text === name ? node : null;
  for (const child of node.children) {
    const found = mentionOf(name, child);
    if (found !== null) return found;
  }
  return null;
}

/** Other names of an optimizer, and its schedulers. */
function sameHolder(name: string, value: Value & { kind: 'holder' }, environment: Environment): string[] {
  return [...environment].flatMap(([other, held]) => {
    if (other === name || other.includes('.') || held.kind !== 'holder') return [];
    const isScheduler = held.role === 'scheduler' && value.holds.some((site) => holdsSite(held.holds, site));
    return held.made.id === value.made.id || isScheduler ? [other] : [];
  });
}

/** Names and dotted names that keep one of the objects. */
function keepersAmong(environment: Environment, sites: Sites, one: Interpreted): string[] {
  return [...environment].flatMap(([name, value]) =>
    keeps(value, sites) && (value.kind !== 'unknown' || isBuilt(name, one)) ? [name] : [],
  );
}

function keeps(value: Value, sites: Sites): boolean {
  if (!sites.some((site) => holdsSite(value.holds, site))) return false;
  switch (value.kind) {
    case 'plain':
    case 'function':
      return false;
    case 'tensor':
      // A graph whose buffers are freed still reaches the parameters, and nothing else.
      return (
        sites.some((site) => site.id === value.own?.id) ||
        (value.graph !== 'no' && (value.freed !== 'yes' || sites.some(({ made }) => made === 'model'))) ||
        value.partOf !== null
      );
    case 'tuple':
      return value.items.some((item) => keeps(item, sites));
    case 'container':
      return keeps(value.elements, sites);
    default:
      return true;
  }
}

/** `trainer = Trainer(model)`: an object of a class elsewhere keeps what it is given; the result of a function need not. */
function isBuilt(name: string, { graph }: Interpreted): boolean {
  return graph.points.some(({ syntax }) => {
    const assignment = assignmentOf(syntax);
    const right = assignment?.childForFieldName('right');
    if (assignment?.childForFieldName('left')?.text !== name || right?.type !== 'call') return false;
    return /(^|\.)[A-Z]\w*$/.test(right.childForFieldName('function')?.text ?? '');
  });
}
