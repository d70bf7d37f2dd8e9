import { graphAppended } from './graphAppended';
import { graphSummed } from './graphSummed';
import type { Rule } from './rule';

/** Every rule, once. */
export const rules: readonly Rule[] = [graphSummed, graphAppended];

/** The slugs of RULES.md that the rules report. */
export const ruleSlugs = ['graph-summed', 'history-summed', 'graph-appended'] as const;
