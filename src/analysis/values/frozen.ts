import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';

/**
 * The module whose parameters a statement freezes: `net.requires_grad_(False)`, or a loop over
 * `net.parameters()` that sets `requires_grad`. What it computes from then on may carry no graph.
 */
export function frozenBy(statement: Node): Node | null {
  let frozen = known.get(statement);
  if (frozen === undefined) known.set(statement, (frozen = readFrozen(statement)));
  return frozen;
}

/** A statement is asked at every visit. */
const known = new WeakMap<Node, Node | null>();

/** The module whose parameters a statement thaws: the same with `True`. */
export function thawedBy(statement: Node): Node | null {
  const call = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  if (call?.type === 'call') return thaws(call) ? receiver(call) : null;
  return statement.type === 'for_statement' ? setInLoop(statement, 'True', thaws) : null;
}

/** `x.requires_grad_()` */
function thaws(call: Node): boolean {
  return methodOf(call) === 'requires_grad_' && !freezes(call);
}

function readFrozen(statement: Node): Node | null {
  if (statement.type === 'for_statement') return setInLoop(statement, 'False', freezes);
  const call = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  return call?.type === 'call' ? frozenInChain(call) : null;
}

/** `net.eval().requires_grad_(False).to(device)`: methods that answer their module are looked through. */
function frozenInChain(call: Node): Node | null {
  let frozen = false;
  let at: Node | null = call;
  while (at?.type === 'call') {
    frozen ||= freezes(at);
    at = receiver(at);
  }
  return frozen ? at : null;
}

/** A call of `requires_grad_` with anything but (an explicit or default) `True`. */
export function freezes(call: Node): boolean {
  const name = call.childForFieldName('function')?.childForFieldName('attribute')?.text;
  return name === 'requires_grad_' && !/^\((requires_grad\s*=\s*)?(True)?\)$/.test(argumentsOf(call));
}

/** The module over whose parameters a loop goes and sets `requires_grad` to a value: anything but `True` counts as `False`. */
function setInLoop(loop: Node, to: 'True' | 'False', isSetBy: (call: Node) => boolean): Node | null {
  const over = loop.childForFieldName('right');
  const body = loop.childForFieldName('body');
  if (over === null || body === null) return null;
  const parameters = [...descend(over)].find((node) => /^(named_)?parameters$/.test(methodOf(node)));
  if (parameters === undefined) return null;
  for (const node of descend(body)) {
    const set = node.type === 'assignment' ? node.childForFieldName('left') : null;
    const isSet = set?.childForFieldName('attribute')?.text === 'requires_grad';
    const isWanted = isSet && (node.childForFieldName('right')?.text === 'True') === (to === 'True');
    if (isWanted || (node.type === 'call' && isSetBy(node))) return receiver(parameters);
  }
  return null;
}

function methodOf(node: Node): string {
  return node.type === 'call' ? (node.childForFieldName('function')?.childForFieldName('attribute')?.text ?? '') : '';
}

function receiver(call: Node): Node | null {
  return call.childForFieldName('function')?.childForFieldName('object') ?? null;
}

function argumentsOf(call: Node): string {
  return call.childForFieldName('arguments')?.text ?? '';
}
