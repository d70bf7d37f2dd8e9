import { text, type Finding, type Fix } from '../finding';
import { detachFixes } from '../fixes/detach';
import { firstAssignment } from '../flow/loops';
import type { FunctionScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
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
      const kept = (graph ?? whole)?.expression ?? movedToDevice(store, one.scope);
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
    return isShared(store, scope, program) || (store.how === 'item' && isOfDataset(scope));
  if (store.how !== 'item' || store.keeperOf !== 'outer') return false;
  return program.module.functions.has(scope.name) || scope.class !== null;
}

function hasManyKeys({ statement }: Store, scope: FunctionScope, program: Program): boolean {
  const target = assignmentOf(statement)?.childForFieldName('left');
  const key = target?.type === 'subscript' ? children(target)[1] : undefined;
  return key !== undefined && keyVaries(key, scope, program);
}

const isOfDataset = (scope: FunctionScope): boolean => scope.class !== null && scope.name === '__getitem__';

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

/** `x.to(device)`, whatever `x` is; also under the name that it was bound to just before. */
function movedToDevice({ expression }: Store, scope: FunctionScope): Node | null {
  if (moving.test(expression.text)) return expression;
  if (expression.type !== 'identifier') return null;
  const bound = firstAssignment(scope.body, expression.text)?.childForFieldName('right');
  return bound && moving.test(bound.text) ? expression : null;
}

/** What a data set keeps may well be in host memory: a model's output, or something that was moved, is not. */
function isOnDevice(store: Store, scope: FunctionScope): boolean {
  return store.tensors.some(({ value }) => value.output !== null) || movedToDevice(store, scope) !== null;
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
