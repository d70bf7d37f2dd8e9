import path from 'node:path';
import type { Severity } from '../../../analysis/finding';
import { say, type Report } from './report';

const commands: Record<Severity, string> = { error: 'error', warning: 'warning', hint: 'notice' };

/** Workflow commands: GitHub shows each at its line of the pull request. Places are those in the file. */
export function githubReport({ files }: Report): string {
  const lines = files.flatMap(({ file, findings }) =>
    findings.map(({ place: { inFile }, severity, rule, message, fixes }) => {
      const properties = {
        file: path.relative('', file).replaceAll(path.sep, '/'),
        ...{ line: inFile.line, endLine: inFile.endLine, col: inFile.column, endColumn: inFile.endColumn },
        title: `VRAM Lens: ${rule}`,
      };
      const list = Object.entries(properties).map(([key, value]) => `${key}=${escaped(String(value), /[%\r\n:,]/g)}`);
      const text = [say(message), ...fixes.slice(0, 1).map(({ title }) => say(title))].join('\n');
      return `::${commands[severity]} ${list.join(',')}::${escaped(text, /[%\r\n]/g)}\n`;
    }),
  );
  return lines.join('');
}

function escaped(text: string, characters: RegExp): string {
  return text.replace(characters, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
