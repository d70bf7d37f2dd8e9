import * as l10n from '@vscode/l10n';
import type { Finding, Range, Text } from '../analysis/finding';

export interface CheckedFile {
  file: string;
  before: string;
  /** With fixes applied, where asked for; findings are of this text. */
  after: string;
  findings: Finding[];
}

interface Position {
  line: number;
  column: number;
}

/** 1-based; columns count Unicode code points (CLI.md). */
export function position(source: string, offset: number): Position {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: [...before.slice(lineStart)].length + 1 };
}

function say({ text, values }: Text): string {
  return l10n.t(text, ...values);
}

/** The object CLI.md fixes. */
export function findingObject(finding: Finding, { file, after }: CheckedFile): Record<string, unknown> {
  const start = position(after, finding.start);
  const end = position(after, finding.end);
  const place = ({ start: offset }: Range): Record<string, unknown> => ({
    file,
    cell: null,
    ...position(after, offset),
  });
  return {
    ...{ file, cell: null, line: start.line, column: start.column, endLine: end.line, endColumn: end.column },
    ...{ rule: finding.rule, severity: finding.severity, message: say(finding.message) },
    chain: finding.chain.map((reason) => ({ ...place(reason), message: say(reason.message) })),
    fixes: finding.fixes.map((fix) => ({
      ...{ title: say(fix.title), safe: fix.safe },
      edits: fix.edits.map((edit) => {
        const from = position(after, edit.start);
        const to = position(after, edit.end);
        return {
          ...{ file, cell: null, startLine: from.line, startColumn: from.column },
          ...{ endLine: to.line, endColumn: to.column, newText: edit.newText },
        };
      }),
    })),
  };
}

/** For people: the finding, its reasons, and what to do. */
export function checkText(files: readonly CheckedFile[]): string {
  const lines: string[] = [];
  let count = 0;
  for (const { file, after, findings } of files) {
    for (const finding of findings) {
      count++;
      const { line, column } = position(after, finding.start);
      lines.push(`${file}:${line}:${column}: ${finding.severity} [${finding.rule}] ${say(finding.message)}`);
      for (const reason of finding.chain)
        lines.push(`    ${position(after, reason.start).line}: ${say(reason.message)}`);
      for (const fix of finding.fixes) {
        const word = fix.safe ? l10n.t('safe fix') : l10n.t('fix, changes what is printed or used');
        lines.push(`    ${word}: ${say(fix.title)}`);
      }
    }
  }
  if (count === 0) lines.push(l10n.t('No findings.'));
  else lines.push(count === 1 ? l10n.t('1 finding.') : l10n.t('{0} findings.', count));
  return `${lines.join('\n')}\n`;
}

/** Changed lines in the unified form; fixes never add or remove lines, so hunks are single lines. */
export function unifiedDiff(file: string, before: string, after: string): string {
  if (before === after) return '';
  const old = before.split('\n');
  const now = after.split('\n');
  const lines = [`--- ${file}`, `+++ ${file}`];
  old.forEach((line, index) => {
    if (line !== now[index]) lines.push(`@@ -${index + 1} +${index + 1} @@`, `-${line}`, `+${now[index]}`);
  });
  return `${lines.join('\n')}\n`;
}
