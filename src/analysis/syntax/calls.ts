import type { Node } from './node';
import { children, descend } from './parser';

/** Functions, lambdas and classes inside something run at another time than it. */
export const isInner = (node: Node): boolean => /^(function_definition|lambda|class_definition)$/.test(node.type);

/** The value of an argument by its keyword; null where it is not given so. */
export function keyword(call: Node, name: string): Node | null {
  const list = call.childForFieldName('arguments');
  for (const one of list === null ? [] : children(list)) {
    if (one.type === 'keyword_argument' && one.childForFieldName('name')?.text === name)
      return one.childForFieldName('value');
  }
  return null;
}

/** Arguments without a keyword, up to the first `*args`. */
export function positional(call: Node): Node[] {
  const list = call.childForFieldName('arguments');
  if (list === null) return [];
  if (list.type !== 'argument_list') return [list];
  const given = children(list).filter((one) => one.type !== 'keyword_argument');
  const splat = given.findIndex((one) => one.type.endsWith('_splat'));
  return splat < 0 ? given : given.slice(0, splat);
}

/** Calls in `node`, those of functions defined there left out. */
export function* callsWithin(node: Node): Iterable<Node> {
  for (const inner of descend(node, (one) => one === node || !isInner(one))) if (inner.type === 'call') yield inner;
}

/** The name that a call calls, without what stands before its last dot. */
export function calledName(call: Node): string {
  const target = call.childForFieldName('function');
  return target?.childForFieldName('attribute')?.text ?? target?.text ?? '';
}
