import type { Range } from '../../analysis/finding';
import type { Region } from './result';

/** Lines of a text as Python and editors count them: a break is `\n`, `\r\n` or a lone `\r`. */
export class Lines {
  private readonly starts: number[] = [0];

  constructor(private readonly text: string) {
    for (const { index, 0: found } of text.matchAll(/\r\n|\n|\r/g)) this.starts.push(index + found.length);
  }

  /** Lines that have something in them or end: a break at the end of the text begins no further one. */
  get count(): number {
    return this.starts.length - (this.starts.at(-1) === this.text.length ? 1 : 0);
  }

  region({ start, end }: Range): Region {
    const from = this.position(start);
    const to = this.position(end);
    return { line: from.line, column: from.column, endLine: to.line, endColumn: to.column };
  }

  /** The text of the line that an offset lies in, without its break. */
  lineAt(offset: number): string {
    const index = this.indexAt(offset);
    return this.text.slice(this.starts[index], this.starts[index + 1]).replace(/[\r\n]+$/, '');
  }

  private position(offset: number): { line: number; column: number } {
    const index = this.indexAt(offset);
    return { line: index + 1, column: [...this.text.slice(this.starts[index], offset)].length + 1 };
  }

  /** The last line that starts at or before an offset. */
  private indexAt(offset: number): number {
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
