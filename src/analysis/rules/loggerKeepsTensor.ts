import { text, type Finding, type Severity } from '../finding';
import { isFreedLater } from '../flow/freedLater';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import { backPropagated } from '../syntax/statements';
import { keptGraphOf, reason } from './keptGraph';
import { handOverFixes, isLogger } from './meterStoresGraph';
import type { Rule } from './rule';
import { storedByCallees } from './storedByCallee';
import { storesOf, type KeptTensor, type Store } from './stores';

/**
 * P33 `logger-keeps-tensor`: what a run logs is kept for its whole length: a record per step that holds tensors instead
 * of numbers, in a dict of the loop or in a logger of this file that stores what it is given. Loggers that convert at
 * once (TensorBoard, wandb, `print`) are no such thing.
 */
export const loggerKeepsTensor: Rule = {
  slugs: ['logger-keeps-tensor'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if (!isRecord(store)) continue;
      const kept = store.tensors.find((tensor) => severityOf(tensor, store.statement, store.loop) !== null);
      if (kept === undefined) continue;
      const severity = severityOf(kept, store.statement, store.loop);
      if (severity === null || (kept.value.graph === 'yes' && keptGraphOf(store, one, program) === null)) continue;
      yield {
        ...finding(store.statement, store.keeper, kept, severity, store.loop),
        fixes: handOverFixes({ argument: kept }),
      };
    }
    const seen = new Set<number>();
    for (const stored of storedByCallees(one, program)) {
      const { statement, loop, argument, store, called, method, kept } = stored;
      if (!isLogger(stored) || seen.has(argument.expression.id)) continue;
      const severity = severityOf({ ...kept, expression: argument.expression }, statement, loop);
      if (severity === null || (kept.value.graph === 'yes' && keptGraphOf(store, method, program) === null)) continue;
      seen.add(argument.expression.id);
      const keeper = `${called.class?.name ?? ''}.${called.name}`;
      yield {
        ...finding(statement, keeper, argument, severity, loop),
        fixes: handOverFixes(stored),
      };
    }
  },
};

/** `run_log[step] = {"loss": …, "attn": attn}` in a loop that trains; of a log by its name also what is no dict. */
function isRecord({ how, expression, keeper, loop, tensors }: Store): boolean {
  if (how !== 'item' && how !== 'append') return false;
  const isDict = expression.type === 'dictionary' || expression.text.startsWith('dict(');
  const isLog = /log|track|journal|telemetry|monitor|diagnos/i.test(keeper);
  if (isDict) return isLog || (how === 'item' && trains(loop));
  return isLog && trains(loop) && tensors.every(({ value }) => value.graph === 'no' || value.freed === 'yes');
}

function trains(loop: Node | null): boolean {
  for (const node of loop === null ? [] : descend(loop))
    if (node.type === 'call' && backPropagated(node).length > 0) return true;
  return false;
}

/** Null for what is small and carries no graph, or lies in host memory. */
function severityOf({ value, expression }: KeptTensor, statement: Node, loop: Node | null): Severity | null {
  if (value.full && !value.host) return 'error';
  if (value.graph !== 'yes') return null;
  return value.freed !== 'no' || isFreedLater(expression.text, statement, loop) ? 'hint' : 'error';
}

function finding(
  statement: Node,
  keeper: string,
  { expression, value }: KeptTensor,
  severity: Severity,
  loop: Node | null,
): Omit<Finding, 'fixes'> {
  const chain = [reason(expression, text('The log gets the tensor itself, not its numbers.'))];
  if (value.own !== null) chain.unshift(reason(value.own.node, text('The tensor is made here.')));
  if (loop !== null) chain.push(reason(loop, text('Every round of this loop adds one.')));
  return {
    ...{ rule: 'logger-keeps-tensor', severity, start: statement.startIndex, end: statement.endIndex },
    message:
      severity === 'hint'
        ? text(
            '{0} keeps {1} with its autograd history for every step: host memory grows. A number instead keeps nothing else.',
            ...[keeper, expression.text],
          )
        : text(
            '{0} keeps {1} on the GPU for every step of the run: GPU memory grows until it runs out. Log numbers, or a detached copy in host memory.',
            ...[keeper, expression.text],
          ),
    chain,
  };
}
