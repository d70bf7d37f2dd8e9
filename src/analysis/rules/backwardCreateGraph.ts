import { statementAround } from '../syntax/statements';
import { text, type Finding, type Fix } from '../finding';
import { scopeAround } from '../scopes/module';
import { callsWithin, calledName, isInner, keyword, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';

/**
 * P23 `backward-create-graph`: `backward(create_graph=True)` leaves gradients in `.grad` that have a graph of their own,
 * which leads back to their tensors: a cycle in C++ that no collector sees. Setting `.grad` to None after use breaks it.
 */
export const backwardCreateGraph: Rule = {
  slugs: ['backward-create-graph'],
  mentions: /create_graph/,
  *find(one, program) {
    for (const { own } of one.graph.points) {
      for (const call of own.flatMap((part) => [...callsWithin(part)])) {
        const flag = createGraph(call, one);
        if (flag === null) continue;
        const leaves = leavesRead(call, one);
        const kept = leaves.filter((leaf) => !isReset(leaf, one.scope.body));
        if (kept.length === 0 && (leaves.length > 0 || resetsAny(program.source))) continue;
        yield finding(call, flag, kept, one, program);
      }
    }
  },
};

/** The literal `True` that is given for `create_graph`. */
function createGraph(call: Node, one: Interpreted): Node | null {
  const name = calledName(call);
  if (name !== 'backward' && name !== 'manual_backward') return null;
  const target = call.childForFieldName('function');
  const isFunction = target !== null && one.evaluator.dotted(target) === 'torch.autograd.backward';
  const value = keyword(call, 'create_graph') ?? positional(call)[isFunction ? 3 : 2] ?? null;
  return value?.type === 'true' ? value : null;
}

/** `x` of every `x.grad` that is read after the call; parameters that a loop goes through are no such names. */
function leavesRead(call: Node, { scope }: Interpreted): string[] {
  const names = new Set<string>();
  for (const node of descend(scope.body, (inner) => inner === scope.body || !isInner(inner))) {
    const object = gradOf(node);
    if (object === null || node.startIndex < call.endIndex || isTarget(node)) continue;
    const isLooped = [...descend(scope.body)].some(
      (other) =>
        (other.type === 'for_statement' || other.type === 'for_in_clause') &&
        [...descend(other.childForFieldName('left') ?? other)].some((name) => name.text === object.text),
    );
    if (!isLooped && (object.type === 'identifier' || object.type === 'attribute')) names.add(object.text);
  }
  return [...names];
}

/** `x` of `x.grad`. */
function gradOf(node: Node): Node | null {
  if (node.type !== 'attribute' || node.childForFieldName('attribute')?.text !== 'grad') return null;
  return node.childForFieldName('object');
}

const isTarget = (node: Node): boolean =>
  node.parent?.type === 'assignment' && node.parent.childForFieldName('left') === node;

/** `x.grad = None`, `del x.grad`, `x.grad.detach_()`. */
function isReset(leaf: string, body: Node): boolean {
  for (const node of descend(body)) {
    if (gradOf(node)?.text !== leaf) continue;
    if (isTarget(node) && node.parent?.childForFieldName('right')?.type === 'none') return true;
    if (node.parent?.type === 'delete_statement') return true;
    if (node.parent?.childForFieldName('attribute')?.text === 'detach_') return true;
  }
  return false;
}

/** The gradients of all parameters are set to None, or lose their graph, somewhere in the file. */
function resetsAny(source: string): boolean {
  return /\.grad\s*=\s*None\b|set_to_none\s*=\s*True|\.grad\.detach_\(/.test(source);
}

function finding(call: Node, flag: Node, kept: readonly string[], one: Interpreted, program: Program): Finding {
  const [leaf] = kept;
  // Without a name of its own every gradient lies in a parameter, where the next zero_grad() may drop it.
  const isBounded = leaf === undefined && /\bzero_grad\(/.test(program.source);
  const fix = gradFix(call, kept, one, program);
  return {
    ...{ rule: 'backward-create-graph', severity: isBounded ? 'warning' : 'error' },
    ...{ start: call.startIndex, end: call.endIndex },
    message:
      leaf === undefined
        ? isBounded
          ? text(
              'The gradients that this leaves in .grad have a graph, which holds the parameters and every activation of the step: all of it stays on the GPU until .grad is set to None. torch.autograd.grad(…, create_graph=True) leaves nothing behind.',
            )
          : text(
              'The gradients that this leaves in .grad have a graph that leads back to the parameters: a cycle that no collector sees, so the graph of every step stays on the GPU. torch.autograd.grad(…, create_graph=True) leaves nothing behind.',
            )
        : text(
            '{0}.grad gets a graph that leads back to {0}: a cycle that no collector sees, so the graph of every call stays on the GPU. torch.autograd.grad(…, create_graph=True) leaves nothing in .grad; or set {0}.grad to None after use.',
            leaf,
          ),
    chain: [
      reason(flag, text('create_graph=True gives the gradients a graph of their own.')),
      leaf === undefined
        ? reason(call, text('backward() stores them in .grad of each parameter, which that graph refers to.'))
        : reason(call, text('backward() stores one in {0}.grad, and that graph refers to {0}.', leaf)),
    ],
    fixes: fix === null ? [] : [fix],
  };
}

/** `(x_grad,) = torch.autograd.grad(loss, x, create_graph=True)`, and `x_grad` wherever `x.grad` was read after it. */
function gradFix(call: Node, kept: readonly string[], one: Interpreted, { module, source }: Program): Fix | null {
  const [leaf, ...more] = kept;
  const statement = statementAround(call);
  const object = call.childForFieldName('function')?.childForFieldName('object');
  const torch = [...module.imports].find(([, meaning]) => meaning === 'torch')?.[0];
  if (leaf === undefined || more.length > 0 || !/^\w+$/.test(leaf) || !object || torch === undefined) return null;
  if (statement.type !== 'expression_statement' || children(statement)[0] !== call) return null;
  if (positional(call).length > 0 || children(call.childForFieldName('arguments') ?? call).length !== 1) return null;
  const name = `${leaf}_grad`;
  if (new RegExp(`\\b${name}\\b`).test(source)) return null;
  const block = statement.parent;
  const reads = [...descend(one.scope.body)].filter((node) => gradOf(node)?.text === leaf);
  const isWithin = reads.every(
    (node) =>
      !isTarget(node) &&
      node.startIndex > call.endIndex &&
      node.endIndex <= (block?.endIndex ?? 0) &&
      scopeAround(node, module) === scopeAround(call, module),
  );
  if (!isWithin) return null;
  const grad = `(${name},) = ${torch}.autograd.grad(${object.text}, ${leaf}, create_graph=True)`;
  return {
    // backward() adds to the gradients of the parameters as well.
    ...{ title: text('Take the gradient alone: {0}', `${torch}.autograd.grad(…)`), safe: false },
    edits: [
      { start: statement.startIndex, end: statement.endIndex, newText: grad },
      ...reads.map(({ startIndex: start, endIndex: end }) => ({ start, end, newText: name })),
    ],
  };
}
