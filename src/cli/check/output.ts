import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { coloursFor } from './formats/colours';
import { githubReport } from './formats/github';
import { jsonReport } from './formats/json';
import { say, type Report } from './formats/report';
import { sarifReport, type Tool } from './formats/sarif';
import { textReport } from './formats/text';
import type { Options } from './options';
import type { SkippedFile } from './result';

/**
 * Writes what was found. Standard output has one thing alone: the report, the patch (`--diff` as text), or the fixed text
 * of standard input; the rest goes to standard error.
 */
export function writeReport(report: Report, options: Options, home: string): void {
  tellSkipped(report.skipped);
  if (report.files.length + report.skipped.length === 0) warn(l10n.t('No Python file and no notebook is there.'));
  if (options.diff) {
    const stream = options.format === 'text' ? process.stdout : process.stderr;
    stream.write(report.files.map(({ patch }) => patch).join(''));
    if (options.format === 'text') return;
  }
  const hasFixedText = options.fix && !options.diff && options.paths.includes('-');
  const stream = hasFixedText ? process.stderr : process.stdout;
  stream.write(formatted(report, options, home, stream));
}

function formatted(report: Report, { format }: Options, home: string, stream: NodeJS.WriteStream): string {
  switch (format) {
    case 'text':
      return textReport(report, coloursFor(stream.isTTY, process.env));
    case 'json':
      return jsonReport(report);
    case 'sarif':
      return sarifReport(report, toolAt(home));
    case 'github':
      return githubReport(report);
  }
}

export function tellSkipped(skipped: readonly SkippedFile[]): void {
  for (const { file, reason } of skipped) {
    process.stderr.write(`${file}: ${l10n.t('skipped: {0}', say(reason))}\n`);
  }
}

export function warn(sentence: string): void {
  process.stderr.write(`vram-lens: ${sentence}\n`);
}

/** Version and homepage from the manifest beside `home`. */
function toolAt(home: string): Tool {
  const manifest = JSON.parse(readFileSync(path.join(path.dirname(home), 'package.json'), 'utf8')) as {
    version: string;
    repository: { url: string };
  };
  return { version: manifest.version, homepage: manifest.repository.url.replace(/\.git$/, '') };
}
