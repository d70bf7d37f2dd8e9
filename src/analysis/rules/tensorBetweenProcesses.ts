import { text, type Fix } from '../finding';
import { loopsAround } from '../flow/loops';
import { keyword, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Rule } from './rule';
import { tensorsIn, type KeptTensor } from './stores';

/**
 * P38 `tensor-between-processes`: tensors on the device are put into a queue without a bound, round after round. Until the
 * other side has dropped each of them its memory stays with the sender.
 */
export const tensorBetweenProcesses: Rule = {
  slugs: ['tensor-between-processes'],
  *find(one) {
    for (const { syntax } of one.graph.points) {
      const put = putIn(syntax);
      const environment = one.before.get(syntax.id);
      const [loop] = loopsAround(syntax);
      if (put === null || environment === undefined || loop === undefined) continue;
      const queue = one.evaluator.evaluate(put.queue, environment);
      if (queue.kind !== 'holder' || queue.role !== 'queue' || isBounded(queue.made)) continue;
      const all = [...tensorsIn(put.item, one, environment)].filter((tensor) => isOnDevice(tensor, one));
      const [sent] = all;
      if (sent === undefined) continue;
      yield {
        ...{ rule: 'tensor-between-processes', severity: 'hint', start: syntax.startIndex, end: syntax.endIndex },
        message: text(
          '{0} stays in GPU memory until the other side of {1} has taken and dropped it, and {1} takes any number of them: if that side is slower, memory grows. A host copy, {0}.cpu(), frees it here; Queue(maxsize=…) bounds how many wait.',
          ...[sent.expression.text, put.queue.text],
        ),
        chain: [
          reason(queue.made, text('This queue has no bound.')),
          reason(loop, text('Every round of this loop puts one more into it.')),
        ],
        fixes: hostFix(all),
      };
    }
  },
};

/** `queue.put(item)`. */
function putIn(statement: Node): { queue: Node; item: Node } | null {
  const call = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  const queue = target?.childForFieldName('object');
  if (!call || !queue || !/^put(_nowait)?$/.test(target?.childForFieldName('attribute')?.text ?? '')) return null;
  const [item] = positional(call);
  return item === undefined ? null : { queue, item };
}

function isBounded(made: Node): boolean {
  const size = keyword(made, 'maxsize') ?? positional(made)[0];
  return size !== undefined && size.text !== '0';
}

/** A model's output, or made on or moved to a device. */
function isOnDevice({ value }: KeptTensor, one: Interpreted): boolean {
  if (value.host || value.scalar) return false;
  const made = value.own?.node.text ?? '';
  if (/\bdevice\s*=\s*["'](cpu)|\.cpu\(/.test(made)) return false;
  const usesDevice = /\.cuda\(|["']cuda|\bdevice\b/.test(one.scope.node.text);
  return usesDevice && (value.output !== null || /\.cuda\(|\.to\(|\bdevice\s*=/.test(made));
}

/** One device tensor that is left in the item keeps as much waiting as before, so all of them go to the host. */
function hostFix(sent: readonly KeptTensor[]): Fix[] {
  const primary = ['identifier', 'attribute', 'call', 'subscript'];
  if (sent.some(({ expression }) => !primary.includes(expression.type))) return [];
  const copies = sent.map(({ expression, value: { graph } }) => {
    return { expression, method: graph === 'no' ? '.cpu()' : '.detach().cpu()' };
  });
  const shown = copies.map(({ expression, method }) => `${expression.text}${method}`).join(', ');
  const edits = copies.map(({ expression: { endIndex: end }, method }) => ({ start: end, end, newText: method }));
  return [{ title: text('Send a host copy: {0}', shown), safe: false, edits }];
}
