import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { ClassScope } from './module';

/** What the body of a class itself gives an attribute: one value for all objects. */
export function classAttribute(owner: ClassScope, attribute: string): Node | null {
  const body = owner.node.childForFieldName('body');
  for (const statement of body === null ? [] : children(body)) {
    const assignment = assignmentOf(statement);
    if (assignment?.childForFieldName('left')?.text === attribute) return assignment.childForFieldName('right');
  }
  return null;
}
