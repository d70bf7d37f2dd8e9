import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
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
      if (/^(\{\}|(\w+\.)?(dict|OrderedDict)\(\))$/.test(value.made.text)) return copyByLoop(expression, one);
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
  return value !== null && value !== undefined && isCopied(value) ? value : null;
}

function isCopied(value: Node): boolean {
  return value.type === 'call' && /(\.clone\(\)|deepcopy\(\w+(\.data)?\))(\.detach\(\))?$/.test(value.text);
}

/** `for k, v in net.state_dict().items(): copy[k] = v.clone()` of a dict that began empty. */
function copyByLoop(copy: Node, one: Interpreted): Copy | null {
  if (copy.type !== 'identifier') return null;
  for (const { syntax } of one.graph.points) {
    const environment = syntax.type === 'for_statement' ? one.before.get(syntax.id) : undefined;
    if (environment === undefined || !overWeights(syntax, environment, one)) continue;
    for (const node of descend(syntax)) {
      const left = node.type === 'assignment' ? node.childForFieldName('left') : null;
      const value = node.childForFieldName('right');
      if (left?.type !== 'subscript' || left.childForFieldName('value')?.text !== copy.text || !value) continue;
      if (isCopied(value) && !goesToHost(value, value)) return { node: value, of: { kind: 'values', value } };
    }
  }
  return null;
}

/** Whether a comprehension or a loop goes through the weights of a model: its state dict, or its parameters. */
function overWeights(made: Node, environment: Environment, one: Interpreted): boolean {
  const clause = made.type === 'for_statement' ? made : children(made).find((child) => child.type === 'for_in_clause');
  const over = clause?.childForFieldName('right');
  if (!over) return false;
  const name = over.childForFieldName('function')?.childForFieldName('attribute')?.text ?? '';
  const object = over.childForFieldName('function')?.childForFieldName('object') ?? null;
  const value = one.evaluator.evaluate(object, environment);
  // No other object has that method either; in a function that only makes the copy the model is a parameter of it.
  if (name === 'named_parameters') return true;
  if (name === 'parameters') return value.kind === 'module' || value.kind === 'instance';
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
