import { namesAt } from '../flow/names';
import { isInside } from '../flow/within';
import type { Program } from '../rules/rule';
import type { FunctionScope } from '../scopes/module';
import { isInner } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';

/** Whether a function inside, or a generator that is kept, reads a name of this one: it may run at any time. */
export function isReadInside(name: string, one: Interpreted, { functions }: Program): boolean {
  const { body, node } = one.scope;
  const inner = functions.filter(({ scope }) => scope !== one.scope && isInside(scope.node, body));
  const binds = new Set(inner.filter((other) => bindsItself(name, other)).map(({ scope }) => scope));
  const isRead = inner.some(({ graph, scope }) => {
    if (!namesAt(graph).some(({ reads, writes }) => reads.has(name) || writes.has(name))) return false;
    for (let at: FunctionScope | null = scope; at !== null && at.node !== node; at = at.around)
      if (binds.has(at)) return false;
    return true;
  });
  return isRead || isInGenerator(name, body);
}

/** Whether any name may be read by its text: `locals()`, `eval(…)`; at the top level also `globals()` in any function. */
export function readsByText({ scope: { body } }: Interpreted): boolean {
  const isTop = body.type === 'module';
  for (const node of descend(body)) {
    const called = node.type === 'call' ? (node.childForFieldName('function')?.text ?? '') : '';
    if (!/^(locals|vars|globals|eval|exec)$/.test(called)) continue;
    // `vars(x)` is about x.
    if (called === 'vars' && children(node.childForFieldName('arguments') ?? node).length > 0) continue;
    const isHere = !isInInner(node, body);
    if (isHere || (isTop && /^(globals|eval|exec)$/.test(called))) return true;
  }
  return false;
}

/** Whether a function has a name of its own that is spelled so. */
function bindsItself(name: string, { graph, scope }: Interpreted): boolean {
  if (scope.parameters.some((parameter) => parameter.replace(/^\*+/, '') === name)) return true;
  return namesAt(graph).some(({ writes }) => writes.has(name)) && !isDeclaredOutside(name, scope);
}

export function isDeclaredOutside(name: string, { body }: FunctionScope): boolean {
  for (const node of descend(body)) {
    if (!/^(global|nonlocal)_statement$/.test(node.type) || isInInner(node, body)) continue;
    if (children(node).some((declared) => declared.text === name)) return true;
  }
  return false;
}

function isInInner(node: Node, body: Node): boolean {
  for (let at = node.parent; at !== null && at !== body; at = at.parent) if (isInner(at)) return true;
  return false;
}

/** A generator expression that no call takes at once. */
function isInGenerator(name: string, body: Node): boolean {
  for (const node of descend(body)) {
    if (node.type !== 'generator_expression' || /^(call|argument_list)$/.test(node.parent?.type ?? '')) continue;
    for (const inner of descend(node)) if (inner.type === 'identifier' && inner.text === name) return true;
  }
  return false;
}
