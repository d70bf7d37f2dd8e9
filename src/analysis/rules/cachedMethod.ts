import { text, type Finding, type Fix } from '../finding';
import { removal } from '../fixes/statementLines';
import { callsOf } from '../scopes/gradMode';
import { decoratorsOf } from '../scopes/module';
import { keyword, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import type { Interpreted } from '../values/interpret';
import { element, type Value } from '../values/value';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';

/**
 * P28 `cached-method`: `functools.lru_cache` or `cache` on a function that is called with tensors, which are told apart by
 * identity, so that it never finds one again; or on a method of an object with tensors, which the class's cache then keeps.
 */
export const cachedMethod: Rule = {
  slugs: ['cached-method'],
  mentions: /cache/,
  *find(one, program) {
    for (const decorator of decoratorsOf(one.scope.node)) {
      const cache = cacheOf(decorator, one);
      if (cache === null) continue;
      const tensor = tensorParameter(one);
      if (tensor !== null) yield ofTensors(cache, tensor, one, program);
      else if (keepsObject(one, program)) yield ofObject(cache, one, program);
    }
  },
};

interface Cache {
  decorator: Node;
  /** How many results it keeps; null: all. */
  size: string | null;
}

const defaultSize = '128';

function cacheOf(decorator: Node, one: Interpreted): Cache | null {
  const target = decorator.type === 'call' ? decorator.childForFieldName('function') : decorator;
  const name = target === null ? null : one.evaluator.dotted(target);
  if (name === 'functools.cache') return { decorator, size: null };
  if (name !== 'functools.lru_cache') return null;
  if (decorator.type !== 'call') return { decorator, size: defaultSize };
  const size = keyword(decorator, 'maxsize') ?? positional(decorator)[0];
  return { decorator, size: size === undefined ? defaultSize : size.type === 'none' ? null : size.text };
}

/** A parameter that calls in this file give a tensor. */
function tensorParameter({ scope, graph, before }: Interpreted): string | null {
  const first = graph.points.find(({ syntax }) => before.has(syntax.id));
  const start = first === undefined ? undefined : before.get(first.syntax.id);
  return scope.parameters.find((name) => start?.get(name)?.kind === 'tensor') ?? null;
}

/** A method whose object has weights or other tensors of its own; one that answers numbers is let be. */
function keepsObject({ scope, result, evaluator }: Interpreted, { module }: Program): boolean {
  const owner = scope.class;
  if (owner === null || scope.isStatic || scope.parameters[0] !== 'self' || result.kind === 'plain') return false;
  if (owner.isModule) return true;
  return [...module.attributeOwners].some(
    ([attribute, owners]) => owners.has(owner.name) && isBig(evaluator.knowledge.attribute(owner, attribute)),
  );
}

function isBig(value: Value): boolean {
  switch (value.kind) {
    case 'module':
      return !value.loss;
    case 'instance':
      return value.of.isModule;
    case 'tensor':
      return value.full && !value.host;
    case 'container':
    case 'tuple':
      return isBig(element(value));
    default:
      return false;
  }
}

function ofTensors(cache: Cache, parameter: string, one: Interpreted, program: Program): Finding {
  const { scope } = one;
  const { decorator, size } = cache;
  const [call] = callsOf(scope, program.module);
  return {
    ...{ rule: 'cached-method', severity: size === null ? 'error' : 'warning' },
    ...{ start: decorator.startIndex, end: decorator.endIndex },
    message:
      size === null
        ? text(
            'The cache keeps every {0} that {1} is called with, and every result with its graph, until the program ends: GPU memory grows with every call. Tensors are told apart by identity, so it never answers anything. Without it nothing is kept.',
            ...[parameter, scope.name],
          )
        : text(
            'The cache keeps the last {0} results of {1} with their graphs, and the tensors it was called with, until the program ends. Tensors are told apart by identity, so it never answers anything. Without it nothing is kept.',
            ...[size, scope.name],
          ),
    chain: [
      reason(decorator, text('The cache lives as long as the function, which is as long as the program.')),
      ...(call === undefined ? [] : [reason(call, text('It is called with a tensor for {0} here.', parameter))]),
    ],
    fixes: fixes(cache, one, program, true),
  };
}

function ofObject(cache: Cache, one: Interpreted, program: Program): Finding {
  const { scope } = one;
  const { decorator } = cache;
  const owner = scope.class?.name ?? scope.name;
  return {
    ...{ rule: 'cached-method', severity: 'warning', start: decorator.startIndex, end: decorator.endIndex },
    message: text(
      'The cache belongs to the class {0}: it keeps each object that {1} was called on, with its weights and results, after everybody else has dropped it. Without it, or with a cache of the object itself by plain numbers, they are freed together.',
      ...[owner, scope.name],
    ),
    chain: [
      reason(decorator, text('The cache lives as long as the function, which is as long as the program.')),
      reason(scope.node, text('self is a part of every key.')),
    ],
    fixes: fixes(cache, one, program, false),
  };
}

/** What a call does beside answering; it happens more often without the cache. */
const sideEffects =
  /\b(rand\w*|dropout|bernoulli|multinomial|normal_|uniform_|print|log|append|open|load)\b|\bself\.\w+\s*[+*-]?=[^=]/;

function fixes({ decorator }: Cache, { scope }: Interpreted, { source }: Program, neverHits: boolean): Fix[] {
  const line = decorator.parent;
  if (line?.type !== 'decorator' || new RegExp(`\\b${scope.name}\\.(__wrapped__|cache_)`).test(source)) return [];
  const safe = neverHits && !sideEffects.test(scope.body.text);
  return [{ title: text('Remove {0}', `@${decorator.text}`), safe, edits: [removal(line, source)] }];
}
