import { applyEdits } from '../../analysis/analyse';
import type { Edit, Range } from '../../analysis/finding';
import { JoinedCells } from '../../notebooks/joined';
import { readNotebook, type CodeCell, type Notebook } from '../../notebooks/notebook';
import { jsonOffset, writeSources } from '../../notebooks/write';
import { Lines } from './lines';
import type { Place, Region } from './result';

/** A file whose text is analysed, and the way from that text's offsets back to the file. It never changes. */
export interface Document {
  /** The file's own text. */
  readonly fileText: string;
  /** The Python text for the analysis. */
  readonly python: string;
  /** Of a notebook: where its code cells lie in `python`. */
  readonly cells: readonly Range[] | null;
  readonly lineCount: number;
  place(range: Range): Place;
  /** The line of the file (or of the cell) that an offset lies in. */
  lineAt(offset: number): string;
  /** The document after an edit of `python`; null when the file cannot be edited so. */
  withEdits(edits: readonly Edit[]): Document | null;
  /** The change of the file's own text that leads to `changed`. */
  changesTo(changed: Document, edits: readonly Edit[]): { region: Region; newText: string }[];
}

export class PythonDocument implements Document {
  readonly cells = null;
  private readonly lines: Lines;

  constructor(readonly fileText: string) {
    this.lines = new Lines(fileText);
  }

  get python(): string {
    return this.fileText;
  }

  get lineCount(): number {
    return this.lines.count;
  }

  place(range: Range): Place {
    const region = this.lines.region(range);
    return { cell: null, region, inFile: region };
  }

  lineAt(offset: number): string {
    return this.lines.lineAt(offset);
  }

  withEdits(edits: readonly Edit[]): PythonDocument {
    return new PythonDocument(applyEdits(this.fileText, edits));
  }

  changesTo(_changed: Document, edits: readonly Edit[]): { region: Region; newText: string }[] {
    return edits.map((edit) => ({ region: this.lines.region(edit), newText: edit.newText }));
  }
}

export class NotebookDocument implements Document {
  readonly fileText: string;
  readonly python: string;
  readonly cells: readonly Range[];
  private readonly joined: JoinedCells;
  private readonly codeCells = new Map<number, { cell: CodeCell; lines: Lines }>();
  /** Made when asked for: outputs make the file far longer than its code. */
  private fileLines: Lines | null = null;

  constructor(private readonly notebook: Notebook) {
    this.fileText = notebook.json;
    this.joined = new JoinedCells(notebook.cells);
    this.python = this.joined.text;
    this.cells = this.joined.ranges;
    for (const cell of notebook.cells) this.codeCells.set(cell.index, { cell, lines: new Lines(cell.source) });
  }

  get lineCount(): number {
    return [...this.codeCells.values()].reduce((sum, { lines }) => sum + lines.count, 0);
  }

  place(range: Range): Place {
    const { cell, lines, start } = this.cellAt(range.start);
    const end = Math.min(start + range.end - range.start, cell.source.length);
    const inFile = { start: jsonOffset(this.notebook, cell, start), end: jsonOffset(this.notebook, cell, end) };
    return { cell: cell.index, region: lines.region({ start, end }), inFile: this.regionInFile(inFile) };
  }

  lineAt(offset: number): string {
    const { lines, start } = this.cellAt(offset);
    return lines.lineAt(start);
  }

  withEdits(edits: readonly Edit[]): NotebookDocument | null {
    const byCell = new Map<number, Edit[]>();
    const cellEdits = this.joined.cellEdits(edits);
    if (cellEdits === null) return null;
    for (const { cell, edit } of cellEdits) byCell.set(cell, [...(byCell.get(cell) ?? []), edit]);
    const sources = new Map([...byCell].map(([index, own]) => [index, applyEdits(this.sourceOf(index), own)] as const));
    const notebook = readNotebook(writeSources(this.notebook, sources));
    return 'reason' in notebook ? null : new NotebookDocument(notebook);
  }

  changesTo(changed: Document): { region: Region; newText: string }[] {
    const [old, now] = [this.fileText, changed.fileText];
    let [same, sameEnd] = [0, 0];
    const shorter = Math.min(old.length, now.length);
    while (same < shorter && old[same] === now[same]) same++;
    while (sameEnd < shorter - same && old.at(-1 - sameEnd) === now.at(-1 - sameEnd)) sameEnd++;
    const region = this.regionInFile({ start: same, end: old.length - sameEnd });
    return [{ region, newText: now.slice(same, now.length - sameEnd) }];
  }

  private regionInFile(range: Range): Region {
    this.fileLines ??= new Lines(this.fileText);
    return this.fileLines.region(range);
  }

  private sourceOf(index: number): string {
    return this.codeCells.get(index)?.cell.source ?? '';
  }

  private cellAt(offset: number): { cell: CodeCell; lines: Lines; start: number } {
    const place = this.joined.placeAt(offset);
    const found = place === null ? undefined : this.codeCells.get(place.cell);
    if (place === null || found === undefined) throw new Error(`no cell at ${offset}`);
    return { ...found, start: place.offset };
  }
}
