import { magicReplacements, withReplacements, type Replacement } from './magics';
import type { CodeCell } from './notebook';

/** A change of the joined text; `start` and `end` are its offsets. */
export interface TextEdit {
  start: number;
  end: number;
  newText: string;
}

/** A place in a notebook. */
export interface CellPlace {
  /** Among all cells, from 0. */
  cell: number;
  /** In that cell's source. */
  offset: number;
}

/** One code cell in the joined text, without the line break that separates it from the next. */
interface JoinedCell {
  index: number;
  source: string;
  start: number;
  end: number;
  replaced: readonly Replacement[];
}

/** The code cells of a notebook as one Python text, magics inert, and the way back from its offsets. */
export class JoinedCells {
  readonly text: string;
  /** Where each code cell lies in `text`. */
  readonly ranges: readonly { start: number; end: number }[];
  private readonly cells: readonly JoinedCell[];

  constructor(cells: readonly Pick<CodeCell, 'index' | 'source'>[]) {
    let start = 0;
    const texts: string[] = [];
    this.cells = cells.map(({ index, source }) => {
      const replaced = magicReplacements(source);
      texts.push(withReplacements(source, replaced));
      const cell = { index, source, start, end: start + source.length, replaced };
      start = cell.end + 1;
      return cell;
    });
    this.text = texts.join('\n');
    this.ranges = this.cells.map(({ start, end }) => ({ start, end }));
  }

  /** The cell that an offset of the joined text lies in; that of the line break between two cells is the first one's. */
  placeAt(offset: number): CellPlace | null {
    const cell = this.cells.findLast(({ start }) => start <= offset);
    return cell === undefined ? null : { cell: cell.index, offset: Math.min(offset, cell.end) - cell.start };
  }

  /** The offset in the joined text of a place in a code cell; null for any other cell. */
  offsetOf({ cell: index, offset }: CellPlace): number | null {
    const cell = this.cells.find((one) => one.index === index);
    return cell === undefined ? null : cell.start + Math.min(offset, cell.source.length);
  }

  /** The source of a code cell. */
  sourceOf(index: number): string | null {
    return this.cells.find((one) => one.index === index)?.source ?? null;
  }

  /**
   * Edits of the joined text as edits of cells, in the order given. Null when one reaches over two cells or into a magic:
   * such edits cannot be made.
   */
  cellEdits(edits: readonly TextEdit[]): { cell: number; edit: TextEdit }[] | null {
    const found: { cell: number; edit: TextEdit }[] = [];
    for (const edit of edits) {
      const cell = this.cells.findLast(({ start }) => start <= edit.start);
      const inside = cell === undefined ? null : withinCell(edit, cell);
      if (cell === undefined || inside === null) return null;
      const touched = ({ start, end }: Replacement): boolean => inside.start < end && inside.end > start;
      if (cell.replaced.some(touched)) return null;
      found.push({ cell: cell.index, edit: inside });
    }
    return found;
  }
}

/** The edit in the cell's own offsets. One that takes the line break after the cell with it leaves it, as it is not there. */
function withinCell(edit: TextEdit, cell: JoinedCell): TextEdit | null {
  const start = edit.start - cell.start;
  const end = edit.end - cell.start;
  if (start > cell.source.length || end > cell.source.length + 1) return null;
  if (end <= cell.source.length) return { start, end, newText: edit.newText };
  if (edit.newText.endsWith('\n')) return { start, end: end - 1, newText: edit.newText.slice(0, -1) };
  const wholeLine = edit.newText === '' && start > 0 && cell.source[start - 1] === '\n';
  return { start: wholeLine ? start - 1 : start, end: end - 1, newText: edit.newText };
}
