import type { Node } from '../syntax/node';
import { mayBeBackPropagated } from '../flow/backward';
import { carryingLoop, firstAssignment, mentions } from '../flow/loops';
import { text, type Finding } from '../finding';
import { detachFixes } from '../fixes/detach';
import { descend } from '../syntax/parser';
import { assignmentOf, type Interpreted } from '../values/interpret';
import { keepingChain, reason } from './chain';
import type { Program } from './rule';

/**
 * P01 `graph-summed`, P02 `history-summed`: a value that carries its graph is added to a sum over the rounds of a loop,
 * and nothing back-propagates the sum. Before any backward every round's activations stay on the GPU; after it only the
 * autograd nodes stay, in host memory.
 */
export function* graphSummed(one: Interpreted, program: Program): Iterable<Finding> {
  for (const statement of descend(
    one.scope.body,
    (node) => node.type !== 'function_definition' && node.type !== 'lambda',
  )) {
    const environment = one.before.get(statement.id);
    const sum = environment === undefined ? null : addition(statement);
    if (sum === null || environment === undefined) continue;
    const value = one.evaluator.evaluate(sum.addend, environment);
    if (value.kind !== 'tensor' || value.graph !== 'yes') continue;
    const loop = carryingLoop(statement, sum.name);
    if (loop === null || mayBeBackPropagated(sum.name, one.scope, program.module)) continue;
    const freed = value.freed !== 'no';
    const chain = keepingChain(value, sum.name, loop, firstAssignment(one.scope.body, sum.name));
    if (freed)
      chain.push(
        reason(sum.addend, text('backward() has freed the activations; the autograd nodes and the loss itself stay.')),
      );
    else
      chain.push(
        reason(statement, text('No backward() is ever called on {0}, so nothing frees these graphs.', sum.name)),
      );
    yield {
      rule: freed ? 'history-summed' : 'graph-summed',
      severity: freed ? 'hint' : 'error',
      start: statement.startIndex,
      end: statement.endIndex,
      message: freed
        ? text(
            '{0} keeps the autograd history of every step: host memory grows, and a small block of GPU memory per step.',
            sum.name,
          )
        : text(
            '{0} keeps the graph of every round with all its activations: GPU memory grows until it runs out.',
            sum.name,
          ),
      chain,
      fixes: detachFixes(sum.addend, sum.name, value.scalar, one.scope, program.module),
    };
  }
}

/** `t += x`, `t = t + x`, `t = x + t`. */
function addition(statement: Node): { name: string; addend: Node } | null {
  const assignment = statement.type === 'expression_statement' ? assignmentOf(statement) : null;
  const left = assignment?.childForFieldName('left');
  const right = assignment?.childForFieldName('right');
  if (!assignment || !left || !right || (left.type !== 'identifier' && left.type !== 'attribute')) return null;
  const name = left.text;
  if (assignment.type === 'augmented_assignment') {
    return assignment.childForFieldName('operator')?.text === '+=' ? { name, addend: right } : null;
  }
  if (right.type !== 'binary_operator' || right.childForFieldName('operator')?.text !== '+') return null;
  const [a, b] = [right.childForFieldName('left'), right.childForFieldName('right')];
  if (a?.text === name && b && !mentions(b, name)) return { name, addend: b };
  return b?.text === name && a && !mentions(a, name) ? { name, addend: a } : null;
}
