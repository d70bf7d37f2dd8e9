import * as l10n from '@vscode/l10n';
import { text } from '../../analysis/finding';
import { writeAtomically } from './atomicWrite';
import type { CheckedFile, SkippedFile } from './result';

/** Writes what was fixed, and answers what could not be written. */
export function writeFixed(files: readonly CheckedFile[]): SkippedFile[] {
  const failed: SkippedFile[] = [];
  let [fixes, changed] = [0, 0];
  for (const { file, fixed, fixes: own } of files) {
    if (fixed === null) continue;
    try {
      if (file === '-') process.stdout.write(fixed);
      else writeAtomically(file, fixed);
      fixes += own;
      if (own > 0) changed++;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      failed.push({ file, reason: text('it cannot be written: {0}', code), failed: true });
    }
  }
  if (fixes > 0) process.stderr.write(`${l10n.t('Fixes applied: {0}; files changed: {1}.', fixes, changed)}\n`);
  return failed;
}
