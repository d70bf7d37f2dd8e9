import { text } from '../finding';
import { children, descend } from '../syntax/parser';
import { reason } from './keptGraph';
import type { Rule } from './rule';

/**
 * P36 `gradients-kept`: `zero_grad(set_to_none=False)` fills the gradients with zeros and keeps their memory through the
 * forward pass, evaluation and saving. Code that writes into `.grad` itself, or captures CUDA graphs, needs them to stay.
 */
export const gradientsKept: Rule = {
  slugs: ['gradients-kept'],
  *find(one, program) {
    if (/CUDAGraph|cuda\.graph\b|make_graphed_callables|\.grad\b/.test(program.source)) return;
    for (const { own } of one.graph.points) {
      for (const node of own.flatMap((part) => [...descend(part, (inner) => inner.type !== 'function_definition')])) {
        const target = node.type === 'call' ? node.childForFieldName('function') : null;
        if (target?.childForFieldName('attribute')?.text !== 'zero_grad') continue;
        const [argument, ...more] = children(node.childForFieldName('arguments') ?? node);
        if (argument?.type !== 'keyword_argument' || more.length > 0) continue;
        const value = argument.childForFieldName('value');
        if (argument.childForFieldName('name')?.text !== 'set_to_none' || value?.type !== 'false') continue;
        const { startIndex: start, endIndex: end } = node;
        yield {
          ...{ rule: 'gradients-kept', severity: 'warning', start, end },
          message: text(
            'The gradients stay allocated as zeros until the next backward(): a block as large as the parameters is held through the forward pass and any evaluation. set_to_none=True frees it.',
          ),
          chain: [reason(argument, text('set_to_none=False fills the gradients with zeros instead of freeing them.'))],
          fixes: [
            {
              title: text('Free the gradients: set_to_none=True'),
              // A parameter without a gradient is left out of the step, with a zero one it decays.
              safe: false,
              edits: [{ start: value.startIndex, end: value.endIndex, newText: 'True' }],
            },
          ],
        };
      }
    }
  },
};
