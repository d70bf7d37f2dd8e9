import type { HistoryColumns } from '../../shared/panelProtocol';

/** Above this many samples the older half is thinned: 2 hours at 10 Hz, about 3 MB. */
const maxSamples = 72_000;

/** What the chart draws: one entry per drawn column at most, oldest first; null is a gap. */
export interface DrawColumns {
  timeMs: number[];
  used: (number | null)[];
  reserved: (number | null)[];
  step: (number | null)[];
}

const columnNames = ['timeMs', 'usedBytes', 'reservedBytes', 'step'] as const;

/** The shown device's samples, kept in growing columns and bounded in number. */
export class History {
  private columns = emptyColumns(1024);
  private length = 0;

  /** Replaces all samples. */
  replace(columns: HistoryColumns): void {
    this.clear();
    this.append(columns);
  }

  clear(): void {
    this.length = 0;
  }

  /** Adds samples that are newer than all there are; older ones (a resend) are left out. */
  append(columns: HistoryColumns): void {
    const newest = this.lastTimeMs ?? -Infinity;
    for (let i = 0; i < columns.timeMs.length; i++) {
      const timeMs = columns.timeMs[i] ?? NaN;
      if (!(timeMs > newest)) continue;
      if (this.length === maxSamples) this.thin();
      if (this.length === this.columns.timeMs.length) this.grow();
      for (const name of columnNames) this.columns[name][this.length] = columns[name][i] ?? NaN;
      this.length++;
    }
  }

  get firstTimeMs(): number | null {
    return this.length > 0 ? (this.columns.timeMs[0] ?? null) : null;
  }

  get lastTimeMs(): number | null {
    return this.length > 0 ? (this.columns.timeMs[this.length - 1] ?? null) : null;
  }

  /**
   * The samples from `fromMs` to `toMs` in columns `columnMs` wide: each shows its largest used and reserved, so a
   * short peak is never lost. Columns are anchored at the epoch, so they keep their content while the chart slides.
   */
  draw(fromMs: number, toMs: number, columnMs: number): DrawColumns {
    const out: DrawColumns = { timeMs: [], used: [], reserved: [], step: [] };
    const { timeMs, usedBytes, reservedBytes, step } = this.columns;
    let column = NaN;
    let last = -1;
    // One sample more on the left, so that the line begins at the edge.
    for (let i = Math.max(0, this.firstFrom(fromMs) - 1); i < this.length; i++) {
      const time = timeMs[i] ?? NaN;
      if (time > toMs) break;
      const used = known(usedBytes[i]);
      const bucket = used === null ? NaN : Math.floor(time / columnMs);
      if (bucket !== column) {
        // A gap keeps its own entry, whatever its column holds besides.
        if (used === null && last >= 0 && out.used[last] === null) continue;
        column = bucket;
        last = out.timeMs.push(time) - 1;
        out.used.push(used);
        out.reserved.push(known(reservedBytes[i]));
        out.step.push(known(step[i]));
        continue;
      }
      out.timeMs[last] = time;
      out.used[last] = larger(out.used[last] ?? null, used);
      out.reserved[last] = larger(out.reserved[last] ?? null, known(reservedBytes[i]));
      out.step[last] = known(step[i]) ?? out.step[last] ?? null;
    }
    return out;
  }

  /** Index of the first sample at or after `timeMs`. */
  private firstFrom(timeMs: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.columns.timeMs[middle] ?? 0) < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private grow(): void {
    const bigger = emptyColumns(Math.min(maxSamples, this.columns.timeMs.length * 2));
    for (const name of columnNames) bigger[name].set(this.columns[name]);
    this.columns = bigger;
  }

  /** Halves the older half: of two neighbours the larger stays, and a gap stays a gap. */
  private thin(): void {
    const { usedBytes } = this.columns;
    const half = this.length >> 1;
    let to = 0;
    for (let i = 0; i < this.length; i++) {
      let from = i;
      if (i + 1 < half) {
        const a = usedBytes[i] ?? NaN;
        const b = usedBytes[i + 1] ?? NaN;
        from = Number.isNaN(a) || a >= b ? i : i + 1;
        i++;
      }
      for (const name of columnNames) this.columns[name][to] = this.columns[name][from] ?? NaN;
      to++;
    }
    this.length = to;
  }
}

function emptyColumns(size: number): HistoryColumns {
  return {
    timeMs: new Float64Array(size),
    usedBytes: new Float64Array(size),
    reservedBytes: new Float64Array(size),
    step: new Float64Array(size),
  };
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

function larger(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
