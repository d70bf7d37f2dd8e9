import type { Parser } from 'web-tree-sitter';
import type { Document } from './document';
import type { Found, NamedFinding } from './find';
import { inStyle } from './lineBreaks';

/** A file has fewer; fixes that bring each other's findings back would never end. */
const mostFixes = 1000;

/**
 * Applies one fix at a time, the preferred one, until none that may be applied is left. A fix that does not end its
 * finding, or breaks the syntax, is taken back.
 */
export function applyFixes(
  parser: Parser,
  document: Document,
  find: (document: Document) => Found,
  which: 'safe' | 'all',
): { document: Document; fixes: number } {
  const refused = new Set<string>();
  let current = document;
  let found = find(current).visible;
  for (let fixes = 0; ;) {
    const next =
      fixes === mostFixes
        ? undefined
        : found.find((one) => !refused.has(one.fingerprint) && fixOf(one, which) !== undefined);
    const fix = next === undefined ? undefined : fixOf(next, which);
    if (next === undefined || fix === undefined) return { document: current, fixes };
    const changed = current.withEdits(inStyle(fix.edits, current));
    const left = changed === null ? found : find(changed).visible;
    const { rule } = next.finding;
    if (changed === null || count(left, rule) >= count(found, rule) || breaksSyntax(parser, current, changed)) {
      refused.add(next.fingerprint);
      continue;
    }
    current = changed;
    found = left;
    fixes++;
  }
}

function fixOf({ finding }: NamedFinding, which: 'safe' | 'all'): NamedFinding['finding']['fixes'][number] | undefined {
  return finding.fixes.find(({ safe }) => safe || which === 'all');
}

function count(found: readonly NamedFinding[], rule: string): number {
  return found.filter(({ finding }) => finding.rule === rule).length;
}

function breaksSyntax(parser: Parser, before: Document, after: Document): boolean {
  return !hasError(parser, before.python) && hasError(parser, after.python);
}

function hasError(parser: Parser, source: string): boolean {
  const tree = parser.parse(source);
  try {
    return tree?.rootNode.hasError ?? true;
  } finally {
    tree?.delete();
  }
}
