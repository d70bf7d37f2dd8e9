import type { Node } from '../syntax/node';
import { mayBeBackPropagated } from '../flow/backward';
import { carryingLoop, firstAssignment, isCalledInLoop, isRenewed } from '../flow/loops';
import { text, type Finding } from '../finding';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { isOwn, keptFinding, type Kept } from './keptGraph';
import type { Program } from './rule';

/**
 * P03 `graph-appended`: a value that carries its graph is appended to a list that outlives the loop, and nothing
 * back-propagates, empties or renews the list.
 */
export function* graphAppended(one: Interpreted, program: Program): Iterable<Finding> {
  for (const statement of descend(one.scope.body, isOwn)) {
    const environment = one.before.get(statement.id);
    const appended = environment === undefined ? null : append(statement);
    if (appended === null || environment === undefined) continue;
    const list = one.evaluator.evaluate(appended.list, environment);
    if (list.kind !== 'container') continue;
    const value = one.evaluator.evaluate(appended.item, environment);
    if (value.kind !== 'tensor' || value.graph !== 'yes') continue;
    const { name } = appended;
    const isAttribute = name.includes('.');
    const loop = carryingLoop(statement, name);
    if (loop === null && !(isAttribute && isCalledInLoop(one.scope, program.module))) continue;
    if (isAttribute && isRenewedElsewhere(name, program)) continue;
    if (mayBeBackPropagated(name, one.scope, program.module)) continue;
    const kept: Kept = {
      ...{ statement, expression: appended.item, value, keeper: name, loop },
      start: isAttribute ? list.made : firstAssignment(one.scope.body, name),
      rules: { alive: 'graph-appended', freed: 'graph-appended' },
      never: text('Nothing in {0} is ever back-propagated or removed.', name),
    };
    yield keptFinding(kept, one, program);
  }
}

/** `list.append(item)` as a statement; `name` is the list without subscripts. */
function append(statement: Node): { list: Node; name: string; item: Node } | null {
  const call = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  const list = target?.childForFieldName('object');
  const [item] = children(call?.childForFieldName('arguments') ?? statement);
  if (target?.childForFieldName('attribute')?.text !== 'append' || !list || item === undefined) return null;
  let stem: Node | null = list;
  while (stem?.type === 'subscript') stem = stem.childForFieldName('value');
  return stem?.type === 'identifier' || stem?.type === 'attribute' ? { list, name: stem.text, item } : null;
}

/** Cleared, cut or bound anew in any function but the constructor, under any name of the object. */
function isRenewedElsewhere(name: string, { module }: Program): boolean {
  const attribute = name.slice(name.lastIndexOf('.') + 1);
  return module.scopes.some((scope) => {
    if (scope.name === '__init__') return false;
    const objects = new Set<string>();
    for (const node of descend(scope.body)) {
      if (node.type === 'attribute' && node.childForFieldName('attribute')?.text === attribute) objects.add(node.text);
    }
    return [...objects].some((object) => isRenewed(scope.body, object));
  });
}
