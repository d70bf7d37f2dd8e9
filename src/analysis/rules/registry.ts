import { averageKeepsGraph } from './averageKeepsGraph';
import { graphAppended } from './graphAppended';
import { graphSummed } from './graphSummed';
import { queueKeepsGraph } from './queueKeepsGraph';
import type { Rule } from './rule';

/** Every rule, once. Where two have something to say of one statement, the earlier one here speaks. */
export const rules: readonly Rule[] = [averageKeepsGraph, queueKeepsGraph, graphSummed, graphAppended];

/** The slugs of RULES.md that the rules report. */
export const ruleSlugs: readonly string[] = rules.flatMap((rule) => rule.slugs);
