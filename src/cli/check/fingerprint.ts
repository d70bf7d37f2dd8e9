import { createHash } from 'node:crypto';

/**
 * Names the findings of one file, in their order, so that the names stay when lines move: of the file, the rule, the text
 * of the finding's line, and which one of those alike it is.
 */
export function fingerprints(file: string, findings: readonly { rule: string; line: string }[]): string[] {
  const counts = new Map<string, number>();
  return findings.map(({ rule, line }) => {
    const alike = JSON.stringify([file, rule, line.trim()]);
    const occurrence = counts.get(alike) ?? 0;
    counts.set(alike, occurrence + 1);
    return createHash('sha256').update(`${alike}${occurrence}`).digest('hex').slice(0, 32);
  });
}
