import { text, type Finding, type Fix } from '../finding';
import { isFreedLater } from '../flow/freedLater';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import { keptGraphOf, reason } from './keptGraph';
import type { Program, Rule } from './rule';
import { storedByCallees, type StoredByCallee } from './storedByCallee';
import type { Store } from './stores';

/**
 * P06 `meter-stores-graph`: the call looks harmless, but the method of the meter adds up, or appends, what it is given,
 * graph and all.
 */
export const meterStoresGraph: Rule = {
  slugs: ['meter-stores-graph'],
  *find(one, program) {
    const seen = new Set<number>();
    for (const stored of storedByCallees(one, program)) {
      if (!isMeter(stored) || seen.has(stored.argument.expression.id) || keepsNone(stored, program)) continue;
      seen.add(stored.argument.expression.id);
      yield finding(stored);
    }
  },
};

/** Whether a method's own store is reported at the calls that hand it tensors. */
export function isReportedAtCalls({ statement }: Store, program: Program): boolean {
  let reported = known.get(program);
  if (reported === undefined) {
    reported = new Set();
    for (const one of program.functions) {
      for (const stored of storedByCallees(one, program))
        if ((isMeter(stored) || isLogger(stored)) && !keepsNone(stored, program))
          reported.add(stored.store.statement.id);
    }
    known.set(program, reported);
  }
  return reported.has(statement.id);
}

const known = new WeakMap<Program, Set<number>>();

/** A sum, or a collection behind a method that tells what is measured; memories and queues are other patterns. */
function isMeter(stored: StoredByCallee): boolean {
  if (isLogger(stored) || stored.called.class === null) return false;
  if (stored.store.how === 'sum') return true;
  const { name } = stored.called;
  return (
    !/memory|replay|buffer|rollout/i.test(stored.called.class?.name ?? '') &&
    stored.store.how === 'append' &&
    /^(update|add|append|observe|accumulate|collect|record|measure|__call__)/.test(name)
  );
}

/** An object that writes down what happens, step by step. */
export function isLogger({ store, called }: StoredByCallee): boolean {
  if (store.how !== 'append' && store.how !== 'item') return false;
  const owner = called.class?.name ?? '';
  // `MetricLogger.update` measures, `MetricLogger.log` writes down.
  if (/meter|average|avg|metric|smooth/i.test(owner)) return /^(log|track|record|report)/i.test(called.name);
  return /log|track|journal|report|monitor|history|record|writer|add_scalar/i.test(`${owner} ${called.name}`);
}

/** The method keeps no graph for good: it is back-propagated, or was none. */
function keepsNone({ store, method }: StoredByCallee, program: Program): boolean {
  return keptGraphOf(store, method, program) === null;
}

function finding(stored: StoredByCallee): Finding {
  const { statement, argument, store, called, loop } = stored;
  const freed = argument.value.freed !== 'no' || isFreedLater(argument.expression.text, statement, loop);
  const meter = called.class?.name ?? called.name;
  return {
    ...{ rule: 'meter-stores-graph', severity: freed ? 'hint' : 'error' },
    ...{ start: statement.startIndex, end: statement.endIndex },
    message: freed
      ? text(
          '{0} keeps {1} with its autograd history in {2}: host memory grows with every step, and a small block of GPU memory. Given a number it keeps nothing else.',
          ...[meter, argument.expression.text, store.keeper],
        )
      : text(
          '{0} keeps {1} with its graph and all its activations in {2}: GPU memory grows with every step until it runs out. Given a number it keeps nothing else.',
          ...[meter, argument.expression.text, store.keeper],
        ),
    chain: [
      ...(argument.value.from === null
        ? []
        : [reason(argument.value.from, text('The graph is recorded here, with the activations it needs.'))]),
      reason(store.statement, text('{0} keeps what it is given, here.', called.name)),
      ...(loop === null ? [] : [reason(loop, text('Every round of this loop hands it one more.'))]),
    ],
    fixes: handOverFixes(stored),
  };
}

/** Hands over the number, or the values without their graph. */
export function handOverFixes({ argument }: Pick<StoredByCallee, 'argument'>): Fix[] {
  const { expression, value } = argument;
  if (!['identifier', 'attribute', 'call', 'subscript', 'parenthesized_expression'].includes(expression.type))
    return [];
  const at = expression.endIndex;
  const way = (method: string): Fix => ({
    title: text('Hand over {0}', `${expression.text}${method}`),
    safe: false,
    edits: [{ start: at, end: at, newText: method }],
  });
  if (value.scalar || isLoss(expression)) return [way('.item()'), way('.detach()')];
  return [way(value.graph === 'no' ? '.cpu()' : '.detach().cpu()')];
}

/** `loss.backward()` without arguments wants a single number. */
function isLoss(expression: Node): boolean {
  let around = expression;
  while (around.parent !== null && around.type !== 'function_definition') around = around.parent;
  return [...descend(around)].some((node) => node.type === 'call' && node.text === `${expression.text}.backward()`);
}
