import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import { noSites, site, union, unrecorded, type Sites } from './sites';
import { element, plain, tensor, unknown, unknownHolding, type TensorValue, type Tri, type Value } from './value';

/** The same memory without the graph. */
export function withoutGraph(value: TensorValue): TensorValue {
  const own = unrecorded(value.own);
  return {
    ...value,
    ...{ graph: 'no', freed: 'no', from: null, moved: null },
    own,
    holds: own === null ? noSites : [own],
  };
}

/** A new tensor made of operands: it carries a graph when one of them does. */
export function combine(node: Node, operands: readonly Value[]): Value {
  const tensors = operands.filter((operand) => operand.kind === 'tensor');
  if (tensors.length === 0) {
    if (operands.every((operand) => operand.kind === 'plain')) return plain;
    return unknownHolding(operands.reduce<Sites>((all, one) => union(all, one.holds), noSites));
  }
  const carrying = tensors.filter((operand) => operand.graph !== 'no');
  const sure = carrying.find((operand) => operand.graph === 'yes');
  const unsure = operands.some((operand) => operand.kind === 'unknown') || carrying.length > 0;
  const graph: Tri = sure !== undefined ? 'yes' : unsure ? 'maybe' : 'no';
  const freed: Tri =
    carrying.length === 0 ? 'no' : carrying.map((one) => one.freed).reduce((a, b) => (a === b ? a : 'maybe'));
  const scalar = operands.every((operand) => operand.kind === 'plain' || (operand.kind === 'tensor' && operand.scalar));
  const held = graph === 'no' ? [] : operands;
  return tensor(site(node, graph === 'no' ? 'tensor' : 'recorded'), {
    ...{ graph, freed, scalar, from: sure?.from ?? (graph === 'yes' ? node : null) },
    ...{ host: tensors.every((one) => one.host), full: tensors.some((one) => one.full) },
    moved: carrying.find((one) => one.moved !== null)?.moved ?? null,
    output: tensors.find((one) => one.output !== null)?.output ?? null,
    holds: held.reduce<Sites>((all, one) => union(all, one.holds), noSites),
  });
}

/** Binds names and attributes of a target to (the parts of) a value. */
export function bindTarget(target: Node | null, value: Value, into: Map<string, Value>): void {
  if (target === null) return;
  switch (target.type) {
    case 'identifier':
    case 'attribute':
      into.set(target.text, value);
      return;
    case 'parenthesized_expression':
    case 'list_splat_pattern':
      bindTarget(children(target)[0] ?? null, target.type === 'list_splat_pattern' ? unknown : value, into);
      return;
    case 'pattern_list':
    case 'tuple_pattern':
    case 'list_pattern':
      children(target).forEach((part, index) => {
        bindTarget(part, value.kind === 'tuple' ? (value.items[index] ?? unknown) : element(value), into);
      });
  }
}
