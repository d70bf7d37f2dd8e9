import type { Node } from '../syntax/node';
import { mayBeBackPropagated } from '../flow/backward';
import { carryingLoop, firstAssignment, isCalledInLoop, isRenewed } from '../flow/loops';
import { text, type Finding } from '../finding';
import { detachFixes } from '../fixes/detach';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { keepingChain, reason } from './chain';
import type { Program } from './rule';

/**
 * P03 `graph-appended`: a value that carries its graph is appended to a list that outlives the loop, and nothing
 * back-propagates, empties or renews the list.
 */
export function* graphAppended(one: Interpreted, program: Program): Iterable<Finding> {
  for (const statement of descend(
    one.scope.body,
    (node) => node.type !== 'function_definition' && node.type !== 'lambda',
  )) {
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
    const freed = value.freed !== 'no';
    const chain = keepingChain(value, name, loop, isAttribute ? list.made : firstAssignment(one.scope.body, name));
    if (freed)
      chain.push(
        reason(
          appended.item,
          text('backward() has freed the activations; the autograd nodes and the loss itself stay.'),
        ),
      );
    else chain.push(reason(statement, text('Nothing in {0} is ever back-propagated or removed.', name)));
    yield {
      rule: 'graph-appended',
      severity: freed ? 'hint' : 'error',
      start: statement.startIndex,
      end: statement.endIndex,
      message: freed
        ? text(
            '{0} keeps the autograd history of every step: host memory grows, and a small block of GPU memory per step.',
            name,
          )
        : text(
            '{0} keeps the graph of every round with all its activations: GPU memory grows until it runs out.',
            name,
          ),
      chain,
      fixes: detachFixes(appended.item, name, value.scalar, one.scope, program.module),
    };
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
