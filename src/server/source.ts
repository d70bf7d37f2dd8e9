import type { Location, Position, TextEdit } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Edit, Range } from '../analysis/finding';
import { JoinedCells } from '../notebooks/joined';

/** A script, or a notebook's code cells as one text, and the way from that text's offsets to the editor's documents. */
export interface Source {
  /** Of the script, or of the notebook: its cells have others. */
  readonly uri: string;
  readonly text: string;
  /** Where each code cell of a notebook lies in the text; empty for a script. */
  readonly cells: readonly Range[];
  /** The documents that the text is made of. */
  readonly documents: readonly TextDocument[];
  /** Their versions when the text was made. */
  readonly versions: readonly number[];
  location(range: Range): Location;
  offsetAt(uri: string, position: Position): number | null;
  /** Edits of the text as the editor makes them, by document; null when the documents cannot be edited so. */
  changes(edits: readonly Edit[]): Record<string, TextEdit[]> | null;
}

export function scriptSource(document: TextDocument): Source {
  const text = document.getText();
  return {
    ...{ uri: document.uri, text, cells: [], documents: [document], versions: [document.version] },
    location: (range) => locationIn(document, range),
    offsetAt: (uri, position) => (uri === document.uri ? document.offsetAt(position) : null),
    changes: (edits) => ({ [document.uri]: edits.map((edit) => textEdit(document, edit)) }),
  };
}

/** @param documents the notebook's Python cells, in their order */
export function notebookSource(uri: string, documents: readonly TextDocument[]): Source {
  const joined = new JoinedCells(documents.map((document, index) => ({ index, source: document.getText() })));
  const placeAt = (offset: number): { document: TextDocument; offset: number } => {
    const place = joined.placeAt(offset);
    const document = place === null ? undefined : documents[place.cell];
    if (place === null || document === undefined) throw new Error(`no cell at ${offset}`);
    return { document, offset: place.offset };
  };
  return {
    ...{ uri, text: joined.text, cells: joined.ranges, documents, versions: documents.map(({ version }) => version) },
    location: ({ start, end }) => {
      const at = placeAt(start);
      // What reaches over cells is shown in its first one.
      return locationIn(at.document, { start: at.offset, end: at.offset + end - start });
    },
    offsetAt: (cellUri, position) => {
      const cell = documents.findIndex((document) => document.uri === cellUri);
      const document = documents[cell];
      return document === undefined ? null : joined.offsetOf({ cell, offset: document.offsetAt(position) });
    },
    changes: (edits) => {
      const changes: Record<string, TextEdit[]> = {};
      const cellEdits = joined.cellEdits(edits);
      for (const { cell, edit } of cellEdits ?? []) {
        const document = documents[cell];
        if (document !== undefined) (changes[document.uri] ??= []).push(textEdit(document, edit));
      }
      return cellEdits === null ? null : changes;
    },
  };
}

/** Whether documents changed, came or went since a source was made of them. */
export function isCurrent({ documents, versions }: Source, now: Source): boolean {
  return (
    documents.length === now.documents.length &&
    documents.every(({ uri }, index) => uri === now.documents[index]?.uri && versions[index] === now.versions[index])
  );
}

function locationIn(document: TextDocument, { start, end }: Range): Location {
  return { uri: document.uri, range: { start: document.positionAt(start), end: document.positionAt(end) } };
}

function textEdit(document: TextDocument, edit: Edit): TextEdit {
  return { range: locationIn(document, edit).range, newText: edit.newText };
}
