import type { Place, PlacedFinding } from '../result';
import { say, type Report } from './report';

/** The object that CLI.md promises. */
export function jsonReport({ files, skipped }: Report): string {
  return `${JSON.stringify({
    version: 1,
    findings: files.flatMap(({ file, findings }) => findings.map((finding) => findingObject(file, finding))),
    skipped: skipped.map(({ file, reason }) => ({ file, reason: say(reason) })),
    files: files.length,
    linesAnalysed: files.reduce((sum, { linesAnalysed }) => sum + linesAnalysed, 0),
  })}\n`;
}

function findingObject(file: string, finding: PlacedFinding): object {
  return {
    ...{ file, cell: finding.place.cell, ...finding.place.region },
    ...{ rule: finding.rule, severity: finding.severity, message: say(finding.message) },
    chain: finding.chain.map(({ place, message }) => ({ ...start(file, place), message: say(message) })),
    fixes: finding.fixes.map(({ title, safe, edits }) => ({
      ...{ title: say(title), safe },
      edits: edits.map(({ place: { cell, region }, newText }) => ({
        ...{ file, cell, startLine: region.line, startColumn: region.column },
        ...{ endLine: region.endLine, endColumn: region.endColumn, newText },
      })),
    })),
  };
}

function start(file: string, { cell, region }: Place): object {
  return { file, cell, line: region.line, column: region.column };
}
