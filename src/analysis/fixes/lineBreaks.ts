import type { Finding } from '../finding';

/** A finding whose fixes break lines as the file does: rules write `\n`. */
export function withLineBreaksOf(source: string, finding: Finding): Finding {
  const first = source.indexOf('\n');
  if (first < 1 || source[first - 1] !== '\r') return finding;
  const fixes = finding.fixes.map((fix) => ({
    ...fix,
    edits: fix.edits.map((edit) => ({ ...edit, newText: edit.newText.replace(/\r?\n/g, '\r\n') })),
  }));
  return { ...finding, fixes };
}
