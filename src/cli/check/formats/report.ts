import * as l10n from '@vscode/l10n';
import type { Text } from '../../../analysis/finding';
import type { CheckedFile, SkippedFile } from '../result';

/** What a format writes. */
export interface Report {
  files: readonly CheckedFile[];
  skipped: readonly SkippedFile[];
}

/** A text in the user's language. */
export function say({ text, values }: Text): string {
  return l10n.t(text, ...values);
}
