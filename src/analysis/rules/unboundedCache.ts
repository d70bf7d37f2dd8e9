import { text, type Finding, type Fix } from '../finding';
import { detachFixes } from '../fixes/detach';
import { firstAssignment } from '../flow/loops';
import type { FunctionScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { positional } from '../syntax/calls';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { classAttribute } from '../scopes/classBody';
import { keyVaries } from './cacheKey';
import { keptGraphOf, reason } from './keptGraph';
import type { Program, Rule } from './rule';
import { storesOf, type KeptTensor, type Store } from './stores';

/**
 * P29 `unbounded-cache`: tensors are put into something that lives as long as the program and that nothing empties: a
 * default argument, a class attribute, a dict of the module, a cache of a dataset.
 */
export const unboundedCache: Rule = {
  slugs: ['unbounded-cache'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (store.isRenewed || store.copies || !isCache(store, one, program)) continue;
      const graph = keptGraphOf(store, one, program);
      const whole = store.tensors.find(
        ({ value }) => !value.scalar && !value.host && (value.full || store.how === 'item'),
      );
      const kept = (graph ?? whole)?.expression ?? movedToDevice(store.expression, one.scope);
      if (kept === null || (isOfDataset(one.scope) && !isOnDevice(store, one.scope))) continue;
      yield found(store, kept, graph, one, program);
    }
  },
};

function isCache(store: Store, one: Interpreted, program: Program): boolean {
  if (store.how !== 'append' && store.how !== 'item') return false;
  const { scope } = one;
  if (store.how === 'item' && !hasManyKeys(store, scope, program)) return false;
  if (store.keeperOf === 'default') return true;
  if (store.keeperOf === 'object')
    return isShared(store, scope, program) || (store.how === 'item' && (isOfDataset(scope) || isMemo(store, scope)));
  if (store.how !== 'item' || store.keeperOf !== 'outer') return false;
  return program.module.functions.has(scope.name) || scope.class !== null;
}

function hasManyKeys({ statement }: Store, scope: FunctionScope, program: Program): boolean {
  const keys = keysOf(statement);
  return keys.some((key) => keyVaries(key, scope, program));
}

/** What stands in the brackets of `cache[a, b] = x`. */
function keysOf(statement: Node): Node[] {
  const target = assignmentOf(statement)?.childForFieldName('left');
  return target?.type === 'subscript' ? children(target).slice(1) : [];
}

const isOfDataset = (scope: FunctionScope): boolean => scope.class !== null && scope.name === '__getitem__';

/** A memo of the object's own: the function that fills it looks the key up first. */
function isMemo({ keeper, statement }: Store, scope: FunctionScope): boolean {
  const key = keysOf(statement)
    .map((part) => part.text)
    .join(', ');
  if (key === '') return false;
  for (const node of descend(scope.body)) {
    const object = node.type === 'call' ? node.childForFieldName('function') : null;
    if (object?.text === `${keeper}.get` && bare(positional(node)[0]?.text) === bare(key)) return true;
    if (node.type !== 'comparison_operator') continue;
    const [looked, kept] = children(node);
    if (/\bin\b/.test(node.text) && kept?.text === keeper && bare(looked?.text) === bare(key)) return true;
  }
  return false;
}

/** `(a, b)` and `a, b` are the same key. */
function bare(key: string | undefined): string | undefined {
  return key?.replace(/^\((.*)\)$/, '$1');
}

/** `_cache = {}` in the body of the class: one for all its objects. */
function isShared({ keeper }: Store, scope: FunctionScope, { module }: Program): boolean {
  const dot = keeper.lastIndexOf('.');
  const owner = module.classes.get(keeper.slice(0, dot)) ?? scope.class;
  const attribute = keeper.slice(dot + 1);
  if (owner === null || classAttribute(owner, attribute) === null) return false;
  // Set on the object itself it is the object's own.
  const start = owner.methods.get('__init__');
  return start === undefined || firstAssignment(start.body, `${start.parameters[0]}.${attribute}`) === null;
}

const moving = /\.(cuda\([^()]*\)|to\([\w.]*(device|dev)\b[^()]*\))$/;

/** `x.to(device)`, whatever `x` is; also in a tuple or dict, and under the name that it was bound to just before. */
function movedToDevice(expression: Node, scope: FunctionScope): Node | null {
  if (expression.type === 'tuple' || expression.type === 'list' || expression.type === 'dictionary') {
    const items = children(expression).map((item) => item.childForFieldName('value') ?? item);
    return items.map((item) => movedToDevice(item, scope)).find((item) => item !== null) ?? null;
  }
  if (moving.test(expression.text)) return expression;
  if (expression.type !== 'identifier') return null;
  const bound = firstAssignment(scope.body, expression.text)?.childForFieldName('right');
  return bound && moving.test(bound.text) ? expression : null;
}

/** What a data set keeps may well be in host memory: a model's output, or something that was moved, is not. */
function isOnDevice(store: Store, scope: FunctionScope): boolean {
  return store.tensors.some(({ value }) => value.output !== null) || movedToDevice(store.expression, scope) !== null;
}

function found(store: Store, kept: Node, graph: KeptTensor | null, one: Interpreted, { module }: Program): Finding {
  const { keeper, statement, keeperValue } = store;
  const made = keeperValue.kind === 'container' ? keeperValue.made : statement;
  return {
    ...{ rule: 'unbounded-cache', severity: 'error' },
    ...{ start: statement.startIndex, end: statement.endIndex },
    message: text(
      '{0} lives as long as the program and nothing empties it: every tensor put into it stays on the GPU. Bound it, or keep numbers or host copies.',
      keeper,
    ),
    chain: [
      reason(made, text('{0} is made once, here.', keeper)),
      reason(kept, text('This tensor is kept, with whatever it holds.')),
    ],
    fixes:
      graph?.value.scalar === true
        ? detachFixes(graph.expression, keeper, true, one.scope, module)
        : hostFix(kept, graph),
  };
}

function hostFix(kept: Node, graph: KeptTensor | null): Fix[] {
  if (!['identifier', 'attribute', 'call', 'subscript'].includes(kept.type)) return [];
  const method = graph === null ? '.cpu()' : '.detach().cpu()';
  const { endIndex: end } = kept;
  return [
    {
      ...{ title: text('Keep a host copy: {0}', `${kept.text}${method}`), safe: false },
      edits: [{ start: end, end, newText: method }],
    },
  ];
}
