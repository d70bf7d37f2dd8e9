import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { text } from '../../analysis/finding';
import { ProjectImports } from '../../pythonFiles/imports';
import type { Document } from './document';
import { findIn, type Found, type NamedFinding } from './find';
import { applyFixes } from './fix';
import { inStyle } from './lineBreaks';
import { patchOf } from './patch';
import { readBytes, readSource } from './read';
import type { FileResult, PlacedFinding } from './result';
import type { Task } from './task';

const imports = new ProjectImports();

/** Checks one file. What goes wrong with it is in the answer. */
export function examine(parser: Parser, task: Task): FileResult {
  const { file } = task;
  try {
    const read = task.bytes === null ? readSource(file) : readBytes(task.bytes);
    if (!('document' in read)) return { skipped: { file, ...read } };
    const { document, encode } = read;
    const { resolve } = imports.from(path.dirname(path.resolve(file)), [path.resolve()]);
    const find = (one: Document): Found => findIn(parser, one, task, resolve);
    const fixing = task.fix === 'none' ? { document, fixes: 0 } : applyFixes(parser, document, find, task.fix);
    const fixed = fixing.fixes === 0 ? null : encode(fixing.document.fileText);
    // What the encoding cannot write is not fixed.
    const shown = fixed === null || !task.writes ? document : fixing.document;
    const { visible, hidden } = find(shown);
    return {
      checked: {
        ...{ file, hidden, linesAnalysed: shown.lineCount },
        ...{ fixes: fixed === null ? 0 : fixing.fixes, fixed: fixed ?? task.bytes },
        findings: visible.map((one) => placed(one, shown)),
        patch: fixed === null ? '' : patchOf(file, document.fileText, fixing.document.fileText),
      },
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { skipped: { file, reason: text('the analysis failed: {0}', message), failed: true } };
  }
}

function placed({ finding, fingerprint }: NamedFinding, document: Document): PlacedFinding {
  return {
    ...{ rule: finding.rule, severity: finding.severity, message: finding.message, fingerprint },
    place: document.place(finding),
    chain: finding.chain.map((reason) => ({ place: document.place(reason), message: reason.message })),
    fixes: finding.fixes.flatMap((fix) => {
      const edits = inStyle(fix.edits, document);
      const changed = document.withEdits(edits);
      if (changed === null) return [];
      return {
        ...{ title: fix.title, safe: fix.safe },
        edits: edits.map((edit) => ({ place: document.place(edit), newText: edit.newText })),
        inFile: document.changesTo(changed, edits),
      };
    }),
  };
}
