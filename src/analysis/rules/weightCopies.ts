import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import type { Value } from '../values/value';

/** A copy that is made in the file, and what it is a copy of. */
export interface Copy {
  /** The call or comprehension that makes it. */
  node: Node;
  of: { kind: 'model' } | { kind: 'weights' } | { kind: 'values'; value: Node };
}

/** What a value is a copy of, while it lies on the device. */
export function copyOf(value: Value, expression: Node, environment: Environment, one: Interpreted): Copy | null {
  switch (value.kind) {
    case 'holder': {
      const isCopy = value.role === 'weights' && !value.host && value.holds.some((site) => site.made === 'weights');
      return isCopy && isDeepCopy(value.made, one) ? { node: value.made, of: { kind: 'weights' } } : null;
    }
    case 'module':
    case 'instance': {
      const made = value.holds.find((site) => isDeepCopy(site.node, one))?.node;
      return made === undefined || goesToHost(made, expression) ? null : { node: made, of: { kind: 'model' } };
    }
    case 'container': {
      const each = copiedValue(value.made);
      const over = each === null ? null : overWeights(value.made, environment, one);
      const isHost = value.elements.kind === 'tensor' && value.elements.host;
      return each === null || over !== true || isHost
        ? null
        : { node: value.made, of: { kind: 'values', value: each } };
    }
    default:
      return null;
  }
}

function isDeepCopy(node: Node, one: Interpreted): boolean {
  const target = node.type === 'call' ? node.childForFieldName('function') : null;
  return target !== null && one.evaluator.dotted(target) === 'copy.deepcopy';
}

/** `copy.deepcopy(net).cpu()`, where it is made or where it is kept. */
function goesToHost(made: Node, expression: Node): boolean {
  const moves = (text: string): boolean => /\.cpu\(\)|\.to\(\s*(device\s*=\s*)?(torch\.device\()?["']cpu/.test(text);
  let outer = made;
  while (outer.parent?.type === 'attribute' || outer.parent?.type === 'call') outer = outer.parent;
  return moves(outer.text) || moves(expression.text);
}

/** The `v.clone()` of `{k: v.clone() for k, v in …}`. */
function copiedValue(made: Node): Node | null {
  if (!/^(dictionary|list)_comprehension$/.test(made.type)) return null;
  const body = made.childForFieldName('body');
  const value = body?.childForFieldName('value') ?? body;
  return value?.type === 'call' && /(\.clone\(\)|deepcopy\(\w+(\.data)?\))(\.detach\(\))?$/.test(value.text)
    ? value
    : null;
}

/** Whether a comprehension goes through the weights of a model: its state dict, or its parameters. */
function overWeights(made: Node, environment: Environment, one: Interpreted): boolean {
  const clause = children(made).find((child) => child.type === 'for_in_clause');
  const over = clause?.childForFieldName('right');
  if (!over) return false;
  const name = over.childForFieldName('function')?.childForFieldName('attribute')?.text ?? '';
  const object = over.childForFieldName('function')?.childForFieldName('object') ?? null;
  const value = one.evaluator.evaluate(object, environment);
  if (/^(named_)?parameters$/.test(name)) return value.kind === 'module' || value.kind === 'instance';
  const isWeights = value.kind === 'holder' && value.role === 'weights' && !value.host;
  return isWeights || (/^(items|values)$/.test(name) && isStateDict(object));
}

/** No other object has a `state_dict()`. */
export function isStateDict(object: Node | null): boolean {
  return (
    object?.type === 'call' &&
    object.childForFieldName('function')?.childForFieldName('attribute')?.text === 'state_dict'
  );
}
