import * as l10n from '@vscode/l10n';
import type { Severity } from '../../../analysis/finding';
import type { Place } from '../result';
import type { Colours, Paint } from './colours';
import { say, type Report } from './report';

/** For people: each finding with its reasons, and what to do. Every line begins with a place that terminals open. */
export function textReport({ files }: Report, colours: Colours): string {
  const paints: Record<Severity, Paint> = { error: colours.red, warning: colours.yellow, hint: colours.cyan };
  const lines: string[] = [];
  let count = 0;
  for (const { file, findings } of files) {
    for (const { place, severity, rule, message, chain, fixes } of findings) {
      count++;
      const word = paints[severity](severity);
      lines.push(`${colours.bold(placeText(file, place))}: ${word} ${colours.dim(`[${rule}]`)} ${say(message)}`);
      for (const reason of chain) lines.push(`    ${placeText(file, reason.place)}: ${say(reason.message)}`);
      for (const { safe, title } of fixes) {
        lines.push(`    ${safe ? l10n.t('safe fix') : l10n.t('fix, changes what is printed or used')}: ${say(title)}`);
      }
    }
  }
  // Where no file could be read there is nothing to say of findings.
  if (files.length === 0) return '';
  const hidden = files.reduce((sum, file) => sum + file.hidden, 0);
  const known = hidden === 0 ? '' : ` ${l10n.t('The baseline hides {0}.', hidden)}`;
  lines.push(`${countText(count)}${known}`);
  return `${lines.join('\n')}\n`;
}

function countText(count: number): string {
  if (count === 0) return l10n.t('No findings.');
  return count === 1 ? l10n.t('1 finding.') : l10n.t('{0} findings.', count);
}

/** People count cells from 1. */
function placeText(file: string, { cell, region: { line, column } }: Place): string {
  return cell === null ? `${file}:${line}:${column}` : `${file}:${l10n.t('cell {0}', cell + 1)}:${line}:${column}`;
}
