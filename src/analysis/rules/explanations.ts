import { bookkeepingExplanations } from './explanations/bookkeeping';
import { environmentExplanations } from './explanations/environment';
import { historyExplanations } from './explanations/history';
import { holdersExplanations } from './explanations/holders';
import { modelsExplanations } from './explanations/models';
import { schemesExplanations } from './explanations/schemes';
import type { RuleExplanation } from './explanations/explanation';

export type { RuleExplanation };

/** Every rule of RULES.md, in its order. */
export const explanations: readonly RuleExplanation[] = [
  ...historyExplanations,
  ...bookkeepingExplanations,
  ...modelsExplanations,
  ...schemesExplanations,
  ...holdersExplanations,
  ...environmentExplanations,
];
