import type { Node } from '../syntax/node';
import { callsOf } from '../scopes/gradMode';
import { dottedName, type FunctionScope, type ModuleScope } from '../scopes/module';
import { descend } from '../syntax/parser';
import { assignmentOf, backPropagated, namesIn } from '../syntax/statements';
import { mentions } from './loops';

const scopes = ['function_definition', 'lambda', 'class_definition'];

/**
 * Names in a function that may reach a `backward()`: those in such a call, and those that flow into them by
 * assignments, whatever their order. Too many names make a rule silent, never wrong.
 */
export function reachingBackward(body: Node, module: ModuleScope): Set<string> {
  const known = module.reaching.get(body.id);
  if (known !== undefined) return known;
  const reaching = readReaching(body, module);
  module.reaching.set(body.id, reaching);
  return reaching;
}

function readReaching(body: Node, module: ModuleScope): Set<string> {
  const reaching = new Set<string>();
  const assignments: { left: string[]; right: string[] }[] = [];
  for (const node of descend(body, (inner) => inner.id === body.id || !scopes.includes(inner.type))) {
    if (node.type === 'call') for (const name of backPropagated(node)) reaching.add(name);
    const handed = node.type === 'call' ? node.childForFieldName('arguments') : null;
    if (handed && mayBackPropagateArguments(node, module)) for (const name of namesIn(handed)) reaching.add(name);
    const assignment = node.type === 'assignment' || node.type === 'augmented_assignment' ? assignmentOf(node) : null;
    const left = assignment?.childForFieldName('left');
    const right = assignment?.childForFieldName('right');
    if (left && right) assignments.push({ left: namesIn(left), right: namesIn(right) });
  }
  for (let size = -1; size !== reaching.size;) {
    size = reaching.size;
    for (const { left, right } of assignments) {
      if (left.some((name) => reaching.has(name))) for (const name of right) reaching.add(name);
    }
  }
  return reaching;
}

/** Methods that only keep, show or count what they are given. */
const harmlessMethods =
  /^(append|extend|insert|add|update|put|push|write|writelines|format|join|item|items|get|print|echo|set_postfix\w*|set_description\w*|(add|log|record|report|track)(_\w+)?|info|debug|warning|error|critical|\w*meter\w*)$/;
/** Libraries that only compute with, show or record what they are given; other imports are code we do not see. */
const harmlessLibraries =
  /^(torch|numpy|math|statistics|copy|gc|sys|os|json|csv|time|random|logging|pprint|tqdm|matplotlib|pandas|wandb|mlflow)\b/;
const builtins = new Set(
  (
    'print len sum max min abs float int str bool repr round format list tuple dict set sorted reversed enumerate zip ' +
    'map filter any all range isinstance type id hash iter next'
  ).split(' '),
);

/** Whether a call may back-propagate what it is given: functions we do not see may, ours when their text does. */
function mayBackPropagateArguments(call: Node, module: ModuleScope): boolean {
  const target = call.childForFieldName('function');
  if (target === null) return false;
  const imported = dottedName(target, module.imports);
  if (imported !== null) return !harmlessLibraries.test(imported);
  const method = target.childForFieldName('attribute')?.text;
  const owned = module.scopes.filter((one) =>
    method === undefined
      ? one.class === null
        ? one.name === target.text
        : one.class.name === target.text && one.name === '__init__'
      : one.class !== null && one.name === method,
  );
  if (owned.length > 0) return owned.some((one) => takesToBackward(one, module));
  if (method !== undefined) return !harmlessMethods.test(method);
  return !builtins.has(target.text);
}

/** Whether a parameter may reach a `backward()` in the function; in a circle of calls every one may. */
function takesToBackward(scope: FunctionScope, module: ModuleScope): boolean {
  if (!module.reaching.has(scope.body.id)) {
    module.reaching.set(scope.body.id, new Set(scope.parameters));
    module.reaching.set(scope.body.id, readReaching(scope.body, module));
  }
  const reaching = module.reaching.get(scope.body.id);
  return scope.parameters.some((name) => reaching?.has(name));
}

/** What becomes of a name that a function keeps: may a graph in it still be back-propagated? */
export function mayBeBackPropagated(name: string, scope: FunctionScope, module: ModuleScope): boolean {
  if (name.includes('.')) {
    // An attribute: whoever has the object may do it, in any function of the file.
    const attribute = name.slice(name.lastIndexOf('.'));
    return module.scopes.some((one) =>
      [...reachingBackward(one.body, module)].some((other) => other.endsWith(attribute)),
    );
  }
  if (reachingBackward(scope.body, module).has(name)) return true;
  if (escapesSideways(name, scope.body)) return true;
  return returns(name, scope.body) && resultMayBeBackPropagated(scope, module);
}

/** Whether the function's result, as this file uses it, may reach a `backward()`; yes where no call is to be seen. */
function resultMayBeBackPropagated(scope: FunctionScope, module: ModuleScope): boolean {
  const calls = callsOf(scope, module);
  if (calls.length === 0 || scope.name === 'forward') return true;
  return calls.some((call) => {
    const holder = module.scopes.findLast(
      (one) => one.body.startIndex <= call.startIndex && call.endIndex <= one.body.endIndex,
    );
    if (holder === undefined) return true;
    const statement = statementOf(call);
    const left = assignmentOf(statement)?.childForFieldName('left');
    const reaching = reachingBackward(holder.body, module);
    if (left) return namesIn(left).some((name) => reaching.has(name));
    if (statement.type === 'return_statement') return resultMayBeBackPropagated(holder, module);
    // `f(…).backward()`, or an argument of a call that is itself back-propagated.
    return [...descend(statement)].some((node) => node.type === 'call' && backPropagated(node).length > 0);
  });
}

/** Stored somewhere else, yielded, or captured by an inner function: it is out of sight then. */
function escapesSideways(name: string, body: Node): boolean {
  for (const node of descend(body)) {
    if ((node.type === 'yield' || node.type === 'lambda') && mentions(node, name)) return true;
    if (node.type === 'function_definition' && node.id !== body.parent?.id && mentions(node, name)) return true;
    const assignment = node.type === 'assignment' ? node : null;
    const left = assignment?.childForFieldName('left');
    const right = assignment?.childForFieldName('right');
    if ((left?.type === 'attribute' || left?.type === 'subscript') && right && mentions(right, name)) return true;
    if (node.type === 'global_statement' || node.type === 'nonlocal_statement') if (mentions(node, name)) return true;
  }
  return false;
}

export function returns(name: string, body: Node): boolean {
  for (const node of descend(body, (inner) => inner.id === body.id || !scopes.includes(inner.type))) {
    if (node.type === 'return_statement' && mentions(node, name)) return true;
  }
  return false;
}

function statementOf(node: Node): Node {
  let at = node;
  while (at.parent !== null && !at.type.endsWith('_statement')) at = at.parent;
  return at;
}
