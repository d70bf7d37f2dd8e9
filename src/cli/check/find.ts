import type { Parser } from 'web-tree-sitter';
import { analyse, type AnalyseOptions } from '../../analysis/analyse';
import type { Finding } from '../../analysis/finding';
import { rulesIgnoredInFile } from '../../analysis/suppression/ignoreFile';
import type { Document } from './document';
import { fingerprints } from './fingerprint';
import type { Task } from './task';

/** A finding that nothing hides, and its fingerprint. */
export interface NamedFinding {
  finding: Finding;
  fingerprint: string;
}

export interface Found {
  visible: NamedFinding[];
  hidden: number;
}

/** What the task asks for in one document. */
export function findIn(
  parser: Parser,
  document: Document,
  task: Task,
  resolve: (moduleName: string) => string | null,
): Found {
  const ignoredHere = rulesIgnoredInFile(document.python);
  if (ignoredHere === 'all') return { visible: [], hidden: 0 };
  const { cells, python } = document;
  const options: AnalyseOptions = cells === null ? { resolve } : { resolve, cells };
  const findings = analyse(parser, python, options);
  // Named before any is left out: a name must not depend on which rules are asked for.
  const names = fingerprints(
    task.name,
    findings.map(({ rule, start }) => ({ rule, line: document.lineAt(start) })),
  );
  const wanted = findings
    .map((finding, index) => ({ finding, fingerprint: names[index] ?? '' }))
    .filter(({ finding: { rule } }) => task.select === null || task.select.includes(rule))
    .filter(({ finding: { rule } }) => !task.ignore.includes(rule) && !ignoredHere.has(rule));
  const visible = wanted.filter(({ fingerprint }) => !task.baseline.includes(fingerprint));
  return { visible, hidden: wanted.length - visible.length };
}
