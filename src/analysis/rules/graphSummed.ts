import type { Node } from '../syntax/node';
import { mayBeBackPropagated } from '../flow/backward';
import { carryingLoop, firstAssignment, mentions } from '../flow/loops';
import { text, type Finding } from '../finding';
import { descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { isOwn, keptFinding, type Kept } from './keptGraph';
import type { Program } from './rule';

/**
 * P01 `graph-summed`, P02 `history-summed`: a value that carries its graph is added to a sum over the rounds of a loop,
 * and nothing back-propagates the sum. Before any backward every round's activations stay on the GPU; after it only the
 * autograd nodes stay, in host memory.
 */
export function* graphSummed(one: Interpreted, program: Program): Iterable<Finding> {
  for (const statement of descend(one.scope.body, isOwn)) {
    const environment = one.before.get(statement.id);
    const sum = environment === undefined ? null : addition(statement);
    if (sum === null || environment === undefined) continue;
    const { name, addend } = sum;
    const value = one.evaluator.evaluate(addend, environment);
    if (value.kind !== 'tensor' || value.graph !== 'yes') continue;
    const loop = carryingLoop(statement, name);
    if (loop === null || mayBeBackPropagated(name, one.scope, program.module)) continue;
    const kept: Kept = {
      ...{ statement, expression: addend, value, keeper: name, loop },
      start: firstAssignment(one.scope.body, name),
      rules: { alive: 'graph-summed', freed: 'history-summed' },
      never: text('No backward() is ever called on {0}, so nothing frees these graphs.', name),
    };
    yield keptFinding(kept, one, program);
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
