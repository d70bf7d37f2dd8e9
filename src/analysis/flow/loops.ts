import type { Node } from '../syntax/node';
import { callsOf } from '../scopes/gradMode';
import { scopeAround, type FunctionScope, type ModuleScope } from '../scopes/module';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';

const loops = ['for_statement', 'while_statement'];
const scopes = ['function_definition', 'lambda', 'class_definition'];

/** Loops around a statement inside its function, innermost first. */
export function loopsAround(statement: Node): Node[] {
  const around: Node[] = [];
  for (let at = statement.parent; at !== null && !scopes.includes(at.type); at = at.parent) {
    if (loops.includes(at.type)) around.push(at);
  }
  return around;
}

/** The innermost loop around `statement` over which the name lives on: nothing inside that loop binds it anew. */
export function carryingLoop(statement: Node, name: string): Node | null {
  return carryingLoops(statement, name)[0] ?? null;
}

/** Every loop around `statement` over which the name lives on, innermost first. */
export function carryingLoops(statement: Node, name: string): Node[] {
  const loops = loopsAround(statement);
  const first = loops.findIndex((loop) => !isRenewed(loop, name));
  if (first < 0) return [];
  const end = loops.findIndex((loop, index) => index > first && isRenewed(loop, name));
  return loops.slice(first, end < 0 ? undefined : end);
}

/** Whether a name or attribute is bound anew, cleared or deleted inside `inside`. */
export function isRenewed(inside: Node, name: string): boolean {
  for (const node of descend(inside, (inner) => !scopes.includes(inner.type))) {
    if (node.type === 'assignment' && assignsFresh(node, name) && !isFirst(node, name, inside)) return true;
    if (node.type === 'for_statement' && mentionsTarget(node.childForFieldName('left'), name)) return true;
    if (empties(node, name)) return true;
  }
  return false;
}

/** Whether a collection is cleared or cut inside `inside`, under its own name or one it is given there. */
export function isEmptied(inside: Node, name: string): boolean {
  const names = [name];
  for (const node of descend(inside)) {
    if (node.type !== 'assignment' || node.childForFieldName('right')?.text !== name) continue;
    names.push(node.childForFieldName('left')?.text ?? name);
  }
  for (const node of descend(inside)) if (names.some((one) => empties(node, one))) return true;
  return false;
}

function empties(node: Node, name: string): boolean {
  if (node.type === 'delete_statement') return mentions(node, name);
  if (node.type !== 'call') return false;
  const target = node.childForFieldName('function');
  const method = target?.childForFieldName('attribute')?.text;
  return (
    /^(clear|pop|popleft|popitem|remove|discard|zero_)$/.test(method ?? '') &&
    target?.childForFieldName('object')?.text === name
  );
}

/** Methods that frameworks call once per step. */
const perStep =
  /^(forward|__call__|__getitem__|training_step|validation_step|test_step|predict_step|train_step|step|update|(on|after|before)_\w*(batch|step|iter)\w*|_\w*step)$/;

/** Whether a function runs again and again: a call of it in this file stands in a loop, or a framework makes it. */
export function isCalledAgain(
  scope: FunctionScope,
  module: ModuleScope,
  isHook: (scope: FunctionScope) => boolean,
  seen: Set<FunctionScope> = new Set(),
): boolean {
  if (seen.has(scope) || scope.body.type === 'module') return false;
  if (isHook(scope)) return true;
  const calls = callsOf(scope, module);
  if (calls.length === 0) return scope.class !== null && perStep.test(scope.name);
  if (scope.class?.isModule === true && scope.name === 'forward') return true;
  seen.add(scope);
  return calls.some((call) => {
    if (loopsAround(call).length > 0 || isInComprehension(call)) return true;
    const around = scopeAround(call, module);
    return around !== null && isCalledAgain(around, module, isHook, seen);
  });
}

/** `[predict(x) for x in requests]`: once per item, not in what is gone over. */
function isInComprehension(call: Node): boolean {
  for (let at = call; at.parent !== null && !scopes.includes(at.parent.type); at = at.parent) {
    if (/^(list|set|dictionary)_comprehension$|^generator_expression$/.test(at.parent.type))
      return at.id === at.parent.childForFieldName('body')?.id;
  }
  return false;
}

/** The plain assignment that first binds `name` in a body; null where there is none. */
export function firstAssignment(body: Node, name: string): Node | null {
  for (const node of descend(body, (inner) => !scopes.includes(inner.type))) {
    const assignment = assignmentOf(node);
    if (assignment?.type === 'assignment' && mentionsTarget(assignment.childForFieldName('left'), name))
      return assignment;
  }
  return null;
}

function assignsFresh(assignment: Node, name: string): boolean {
  const right = assignment.childForFieldName('right');
  if (!mentionsTarget(assignment.childForFieldName('left'), name)) return false;
  return right === null || !isMadeOf(right, name, assignment.parent, 2);
}

/** Behind `if name is None:` it happens once. */
function isFirst(assignment: Node, name: string, inside: Node): boolean {
  for (let at = assignment.parent; at !== null && at.id !== inside.id; at = at.parent) {
    if (at.type !== 'if_statement' || at.childForFieldName('condition')?.text !== `${name} is None`) continue;
    const first = at.childForFieldName('consequence');
    return first !== null && first.startIndex <= assignment.startIndex && assignment.endIndex <= first.endIndex;
  }
  return false;
}

/** An expression mentions a name, or names that the block before made of it: `new = 0.9 * old + x`, `old = new`. */
function isMadeOf(expression: Node, name: string, statement: Node | null, steps: number): boolean {
  if (mentions(expression, name)) return true;
  if (statement === null || steps === 0) return false;
  for (const node of descend(expression)) {
    const made = node.type === 'identifier' ? assignedBefore(statement, node.text) : null;
    if (
      made !== null &&
      /^(binary_operator|identifier|attribute|call)$/.test(made.type) &&
      isMadeOf(made, name, statement, steps - 1)
    )
      return true;
  }
  return false;
}

/** What a name was last assigned in the block of a statement. */
export function assignedBefore(statement: Node, name: string): Node | null {
  const block = statement.parent === null ? [] : children(statement.parent);
  const earlier = block.slice(0, block.indexOf(statement)).toReversed();
  for (const one of earlier) {
    const assignment = assignmentOf(one);
    if (assignment?.childForFieldName('left')?.text === name) return assignment.childForFieldName('right');
  }
  return null;
}

function mentionsTarget(target: Node | null, name: string): boolean {
  if (target === null) return false;
  if (target.text === name) return true;
  return target.type.includes('pattern') && children(target).some((part) => mentionsTarget(part, name));
}

/** Whether a name or dotted name occurs in an expression. */
export function mentions(node: Node, name: string): boolean {
  for (const inner of descend(node)) {
    if ((inner.type === 'identifier' || inner.type === 'attribute') && inner.text === name) return true;
  }
  return false;
}
