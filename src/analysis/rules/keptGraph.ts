import { text, type Finding, type Reason, type Text } from '../finding';
import { detachFixes } from '../fixes/detach';
import type { Node } from '../syntax/node';
import type { Interpreted } from '../values/interpret';
import type { TensorValue } from '../values/value';
import type { Program } from './rule';

const inner = ['function_definition', 'lambda'];

/** Whether a walk over a function's statements goes into a node: functions inside it are looked at on their own. */
export function isOwn(node: Node): boolean {
  return !inner.includes(node.type);
}

/** A value with its graph that `keeper` keeps over the rounds of a loop. */
export interface Kept {
  statement: Node;
  expression: Node;
  value: TensorValue;
  keeper: string;
  /** Null where the function itself is called again and again. */
  loop: Node | null;
  /** Where the keeper begins. */
  start: Node | null;
  rules: { alive: string; freed: string };
  /** Why nothing frees it. */
  never: Text;
}

/** The finding: an error while the activations stay on the GPU, a hint once `backward()` has freed them. */
export function keptFinding(kept: Kept, one: Interpreted, program: Program): Finding {
  const { statement, expression, value, keeper } = kept;
  const freed = value.freed !== 'no';
  const last = freed
    ? reason(expression, text('backward() has freed the activations; the autograd nodes and the loss itself stay.'))
    : reason(statement, kept.never);
  return {
    rule: freed ? kept.rules.freed : kept.rules.alive,
    severity: freed ? 'hint' : 'error',
    start: statement.startIndex,
    end: statement.endIndex,
    message: freed
      ? text(
          '{0} keeps the autograd history of every step: host memory grows, and a small block of GPU memory per step.',
          keeper,
        )
      : text(
          '{0} keeps the graph of every round with all its activations: GPU memory grows until it runs out.',
          keeper,
        ),
    chain: [...keepingChain(kept), last],
    fixes: detachFixes(expression, keeper, value.scalar, one.scope, program.module),
  };
}

function reason(node: Node, message: Text): Reason {
  return { start: node.startIndex, end: firstLineEnd(node), message };
}

/** Why a kept tensor costs: where its graph comes from, and what keeps it round after round. */
function keepingChain({ value, keeper, loop, start }: Kept): Reason[] {
  const chain: Reason[] = [];
  if (value.from !== null)
    chain.push(reason(value.from, text('The graph is recorded here, with the activations it needs.')));
  if (start !== null) chain.push(reason(start, text('{0} begins here and lives on from round to round.', keeper)));
  if (loop !== null) chain.push(reason(loop, text('Every round of this loop adds one more graph to {0}.', keeper)));
  return chain;
}

/** Long nodes (a loop with its body) are pointed at by their first line. */
function firstLineEnd(node: Node): number {
  const line = node.text.indexOf('\n');
  return line < 0 ? node.endIndex : node.startIndex + line;
}
