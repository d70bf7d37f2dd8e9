import type { Edit } from '../../analysis/finding';
import type { Document } from './document';

/** New lines end as the file's first one does. */
export function inStyle(edits: readonly Edit[], document: Document): Edit[] {
  if (!/^[^\n]*\r\n/.test(document.python)) return [...edits];
  return edits.map((edit) => ({ ...edit, newText: edit.newText.replace(/\r?\n/g, '\r\n') }));
}
