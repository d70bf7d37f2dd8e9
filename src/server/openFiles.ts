import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TextDocument } from 'vscode-languageserver-textdocument';

/** The file that a URI means; null for what is on no disk. */
export function fileOf(uri: string): string | null {
  try {
    return uri.startsWith('file:') ? path.normalize(fileURLToPath(uri)) : null;
  } catch {
    return null; // another machine's share
  }
}

/** The open documents of files, by their paths: a URI has more than one spelling. */
export class OpenFiles {
  private readonly documents = new Map<string, TextDocument>();

  opened(document: TextDocument): void {
    const file = fileOf(document.uri);
    if (file !== null) this.documents.set(file, document);
  }

  closed(document: TextDocument): void {
    const file = fileOf(document.uri);
    if (file !== null) this.documents.delete(file);
  }

  /** The text of an open file as it is typed. */
  readonly text = (file: string): string | null => this.documents.get(file)?.getText() ?? null;
}
