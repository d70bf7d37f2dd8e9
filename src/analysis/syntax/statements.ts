import type { Node } from './node';
import { children, descend } from './parser';

/** The assignment (plain or augmented) that a statement is. */
export function assignmentOf(statement: Node): Node | null {
  const inner = statement.type === 'expression_statement' ? children(statement)[0] : statement;
  return inner?.type === 'assignment' || inner?.type === 'augmented_assignment' ? inner : null;
}

/** Names in a call of `backward`: of its receiver (`(a + b).backward()`) and of its arguments (`fabric.backward(a)`). */
export function backPropagated(call: Node): string[] {
  const target = call.childForFieldName('function');
  const name = target?.childForFieldName('attribute')?.text ?? target?.text;
  if (name !== 'backward' && name !== 'manual_backward' && name !== 'grad') return [];
  return namesIn(call);
}

/** Names and dotted names in an expression, each as often as it occurs. */
export function namesIn(node: Node): string[] {
  const names: string[] = [];
  for (const inner of descend(node)) {
    if (inner.type === 'identifier' || inner.type === 'attribute') names.push(inner.text);
  }
  return names;
}
