import * as l10n from '@vscode/l10n';
import { explanations } from '../../analysis/rules/explanations';
import { ruleSlugs } from '../../analysis/rules/registry';
import { UsageError } from '../usageError';

/** Every rule that may be named: those that report, and those that are only explained. */
export function knownRules(): string[] {
  return [...new Set([...ruleSlugs, ...explanations.map(({ rule }) => rule)])];
}

/** The rules of `--select` or `--ignore`; null when the option is absent. */
export function rulesOf(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  const named = list
    .split(',')
    .map((rule) => rule.trim())
    .filter((rule) => rule !== '');
  const known = knownRules();
  const unknown = named.find((rule) => !known.includes(rule));
  if (unknown !== undefined) {
    throw new UsageError(l10n.t('There is no rule "{0}"; there are: {1}.', unknown, known.join(', ')));
  }
  return named;
}
