import { text, type Edit, type Finding, type Text } from '../finding';
import { loopsAround } from '../flow/loops';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { reason } from './keptGraph';
import type { Rule } from './rule';

/**
 * P36 `gradients-kept`: `zero_grad(set_to_none=False)`, or a loop over the parameters that zeroes each gradient, keeps
 * their memory through the forward pass, evaluation and saving. Code that adds to `.grad` itself, or captures CUDA
 * graphs, needs them to stay.
 */
export const gradientsKept: Rule = {
  slugs: ['gradients-kept'],
  mentions: /set_to_none|\.grad\b/,
  *find(one, { source }) {
    if (needsThem.test(source)) return;
    for (const { own } of one.graph.points) {
      for (const node of own.flatMap((part) => [...descend(part, (inner) => inner.type !== 'function_definition')])) {
        const kept = node.type === 'call' ? (byArgument(node) ?? byHand(node)) : null;
        if (kept !== null && !/^zero_grad$/.test(one.scope.name)) yield finding(node, kept);
      }
    }
  },
};

const needsThem =
  /CUDAGraph|cuda\.graph\b|make_graphed_callables|\.grad(\.data)?\s*([-+*/]=|=\s*(?!=|None))|\.grad(\.data)?\.(add|copy|addcmul)_|\.grad(\.data)?\[/;

interface Kept {
  why: Text;
  title: Text;
  edit: Edit;
}

/** `optimizer.zero_grad(set_to_none=False)` */
function byArgument(call: Node): Kept | null {
  if (call.childForFieldName('function')?.childForFieldName('attribute')?.text !== 'zero_grad') return null;
  const [argument, ...more] = children(call.childForFieldName('arguments') ?? call);
  const value = argument?.type === 'keyword_argument' ? argument.childForFieldName('value') : null;
  if (more.length > 0 || value?.type !== 'false') return null;
  if (argument?.childForFieldName('name')?.text !== 'set_to_none') return null;
  return {
    why: text('set_to_none=False fills the gradients with zeros instead of freeing them.'),
    title: text('Free the gradients: set_to_none=True'),
    edit: { start: value.startIndex, end: value.endIndex, newText: 'True' },
  };
}

/** `for p in model.parameters(): p.grad.zero_()` */
function byHand(call: Node): Kept | null {
  const gradient = /^([\p{L}\p{N}_]+)\.grad(\.data|\.detach\(\))?\.zero_$/u.exec(
    call.childForFieldName('function')?.text ?? '',
  );
  const [loop] = loopsAround(call);
  if (gradient === null || loop === undefined || call.parent?.type !== 'expression_statement') return null;
  const name = gradient[1] as string;
  const over = loop.childForFieldName('right')?.text ?? '';
  const isEach = new RegExp(`(^|,\\s*)${name}$`).test(loop.childForFieldName('left')?.text ?? '');
  if (!isEach || !/\.(named_)?parameters\(\)$/.test(over)) return null;
  return {
    why: text('The gradient is filled with zeros here instead of freed.'),
    title: text('Free the gradient: {0}', `${name}.grad = None`),
    edit: { start: call.startIndex, end: call.endIndex, newText: `${name}.grad = None` },
  };
}

function finding(call: Node, { why, title, edit }: Kept): Finding {
  return {
    ...{ rule: 'gradients-kept', severity: 'warning', start: call.startIndex, end: call.endIndex },
    message: text(
      'The gradients stay allocated as zeros until the next backward(): a block as large as the parameters is held through the forward pass and any evaluation. Set to None they are freed.',
    ),
    chain: [reason(call, why)],
    // A parameter without a gradient is left out of the step, with a zero one it decays.
    fixes: [{ title, safe: false, edits: [edit] }],
  };
}
