import { text } from '../finding';
import { addition } from '../fixes/statementLines';
import { loopsAround } from '../flow/loops';
import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { holdsSite } from '../values/sites';
import type { TensorValue, Value } from '../values/value';
import { reason } from './keptGraph';
import { lastUseOf, phaseAfter } from './lastUse';
import type { Rule } from './rule';

/**
 * P39 `double-residency`: data in another type, scaled or cloned under a new name, while the old name is not used any more
 * and keeps the original beside it through all that follows.
 */
export const doubleResidency: Rule = {
  slugs: ['double-residency'],
  *find(one, program) {
    if (program.cells.length > 0 || one.scope.body.type === 'module') return;
    for (const { syntax } of one.graph.points) {
      const environment = one.before.get(syntax.id);
      const assignment = assignmentOf(syntax);
      const left = assignment?.type === 'assignment' ? assignment.childForFieldName('left') : null;
      const right = assignment?.childForFieldName('right');
      if (environment === undefined || left?.type !== 'identifier' || !right || loopsAround(syntax).length > 0)
        continue;
      const original = originalOf(right, one);
      if (original === null || original.text === left.text) continue;
      const old = environment.get(original.text);
      if (!isData(old) || !isData(one.evaluator.evaluate(right, environment)) || !isOnDevice(old)) continue;
      const last = lastUseOf(original.text, syntax, one);
      const phase = last === null ? null : phaseAfter(last, one, program, false);
      if (last === null || phase === null || isHeldElsewhere(old, original.text, one.after.get(last.id))) continue;
      const edit = addition(last, `del ${original.text}`, program.source);
      yield {
        ...{ rule: 'double-residency', severity: 'hint', start: syntax.startIndex, end: syntax.endIndex },
        message: text(
          '{0} is a second copy of the data in {1}, which is not used any more but stays in memory as long as the function runs. Bound to the name {1} again, or with del {1} after its last use, only one of them is left.',
          ...[left.text, original.text],
        ),
        chain: [
          reason(right, text('The whole of {0} is copied here.', original.text)),
          reason(last, text('{0} is used here for the last time.', original.text)),
          reason(phase, text('This runs with {0} still in memory.', original.text)),
        ],
        fixes:
          edit === null
            ? []
            : [
                {
                  title: text('Let go of it after its last use: {0}', `del ${original.text}`),
                  safe: true,
                  edits: [edit],
                },
              ],
      };
    }
  },
};

/** Whole tensors without a graph: what a graph saved lives anyway. */
function isData(value: Value | undefined): value is TensorValue {
  return value?.kind === 'tensor' && value.full && !value.host && value.graph === 'no' && value.partOf === null;
}

/** Another name or attribute has it, too. */
function isHeldElsewhere({ own }: TensorValue, name: string, after: Environment | undefined): boolean {
  if (own === null || after === undefined) return true;
  return [...after].some(([other, value]) => other !== name && holdsSite(value.holds, own));
}

/** Made on a device that is named there. */
function isOnDevice({ own }: TensorValue): boolean {
  return own !== null && /device|cuda/.test(own.node.text);
}

/** Methods that answer the same data in new memory, and those that only show it otherwise. */
const copying = /^(float|half|double|bfloat16|clone|abs|sub|div|mul|add|sqrt|log|clamp)$/;
const showing = /^(to|contiguous|unsqueeze|squeeze|view|reshape|detach)$/;

/** The name whose data an expression copies whole; null where it does anything else. */
function originalOf(expression: Node, one: Interpreted, copied = false): Node | null {
  switch (expression.type) {
    case 'identifier':
      return copied ? expression : null;
    case 'parenthesized_expression':
      return originalOf(children(expression)[0] as Node, one, copied);
    case 'binary_operator': {
      if (!/^[-+*/]$/.test(expression.childForFieldName('operator')?.text ?? '')) return null;
      const left = expression.childForFieldName('left');
      return left === null ? null : originalOf(left, one, true);
    }
    case 'call': {
      const target = expression.childForFieldName('function');
      const first = children(expression.childForFieldName('arguments') ?? expression)[0];
      if (target === null) return null;
      if (one.evaluator.dotted(target) === 'torch.nn.functional.normalize')
        return first === undefined ? null : originalOf(first, one, true);
      const method = target.childForFieldName('attribute')?.text ?? '';
      const object = target.childForFieldName('object');
      const casts = method === 'to' && /torch\.(b?float|half|double|int|uint)\w*/.test(first?.text ?? '');
      if (object === null || (!copying.test(method) && !showing.test(method))) return null;
      return originalOf(object, one, copied || casts || copying.test(method));
    }
    default:
      return null;
  }
}
