import { text, type Fix } from '../finding';
import { isRenewed, loopsAround } from '../flow/loops';
import { functionAround } from '../scopes/gradMode';
import type { Node } from '../syntax/node';
import { reason } from './keptGraph';
import type { Rule } from './rule';
import { storesOf, type Store } from './stores';

/**
 * P32 `view-keeps-storage`: a slice of a batch's result is kept; it shares the memory of the whole, which stays as long
 * as the slice does.
 */
export const viewKeepsStorage: Rule = {
  slugs: ['view-keeps-storage'],
  *find(one, program) {
    for (const store of storesOf(one, program)) {
      if ((store.how !== 'append' && store.how !== 'item') || store.copies) continue;
      const kept = store.tensors.find(({ value }) => value.partOf !== null && value.graph === 'no');
      const base = kept?.value.own?.node;
      if (kept === undefined || base === undefined || !isMadeEachRound(base, store)) continue;
      const { statement, keeper } = store;
      yield {
        ...{ rule: 'view-keeps-storage', severity: 'warning' },
        ...{ start: statement.startIndex, end: statement.endIndex },
        message: text(
          '{0} keeps a slice, and a slice keeps the memory of the whole tensor it was cut from, round after round. Keep a copy: .clone().',
          keeper,
        ),
        chain: [
          reason(base, text('The whole tensor is made here, in every round.')),
          reason(kept.value.partOf ?? kept.expression, text('This is a view of a part of it, not a copy.')),
        ],
        fixes: [cloneFix(kept.expression)],
      };
    }
  },
};

/** The base dies with its round; one that is made before the loop lives anyway. */
function isMadeEachRound(base: Node, { loop, statement, keeper }: Store): boolean {
  const isInside = (around: Node): boolean => around.startIndex <= base.startIndex && base.endIndex <= around.endIndex;
  const loops = loopsAround(statement).filter((around) => !isRenewed(around, keeper));
  if (loops.some(isInside)) return true;
  // The function itself runs again and again.
  const around = loop === null ? functionAround(statement) : null;
  return around !== null && isInside(around);
}

function cloneFix(kept: Node): Fix {
  const isPrimary = ['identifier', 'attribute', 'call', 'subscript', 'parenthesized_expression'].includes(kept.type);
  const edits = isPrimary
    ? [{ start: kept.endIndex, end: kept.endIndex, newText: '.clone()' }]
    : [
        { start: kept.startIndex, end: kept.startIndex, newText: '(' },
        { start: kept.endIndex, end: kept.endIndex, newText: ').clone()' },
      ];
  return { title: text('Keep a copy of the slice: {0}', '.clone()'), safe: true, edits };
}
