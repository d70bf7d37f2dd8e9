import * as l10n from '@vscode/l10n';
import { explanations, type RuleExplanation } from '../../analysis/rules/explanations';
import { UsageError } from '../usageError';
import { say } from './formats/report';

/** `--explain RULE`. */
export function explainRule(rule: string, format: 'text' | 'json'): string {
  const explanation = explanations.find((one) => one.rule === rule);
  if (explanation === undefined) {
    const known = explanations.map((one) => one.rule).join(', ');
    throw new UsageError(l10n.t('There is no rule "{0}"; there are: {1}.', rule, known));
  }
  if (format === 'text') return `${rule}: ${explanationText(explanation)}\n`;
  const { severity, title, finds, costs, fix, example, better } = explanation;
  return `${JSON.stringify({
    ...{ rule, severity, title: say(title), finds: say(finds), costs: say(costs), fix: say(fix), example, better },
  })}\n`;
}

/** For terminals. */
export function explanationText(explanation: RuleExplanation): string {
  const { title, finds, costs, fix, example, better } = explanation;
  const indented = (code: string): string => code.replace(/^(?=.)/gm, '    ');
  return [
    say(title),
    '',
    ...[l10n.t('What it finds:'), `  ${say(finds)}`, ''],
    ...[l10n.t('What it costs:'), `  ${say(costs)}`, ''],
    ...[l10n.t('How to fix it:'), `  ${say(fix)}`, ''],
    ...[l10n.t('Example:'), indented(example), ''],
    ...[l10n.t('Better:'), indented(better)],
  ].join('\n');
}

export function explanationMarkdown(explanation: RuleExplanation): string {
  const { finds, costs, fix, example, better } = explanation;
  const code = (text: string): string => `\`\`\`python\n${text}\n\`\`\``;
  return [
    say(finds),
    `**${l10n.t('What it costs:')}** ${say(costs)}`,
    `**${l10n.t('How to fix it:')}** ${say(fix)}`,
    ...[l10n.t('Example:'), code(example), l10n.t('Better:'), code(better)],
  ].join('\n\n');
}
