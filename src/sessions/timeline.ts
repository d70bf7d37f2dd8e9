import type { HistoryColumns } from '../shared/panelProtocol';

/** One hour at ten samples a second. */
const capacityDefault = 36_000;
const firstCapacity = 1024;

/** A device's recent past in a ring of typed arrays: time, used, reserved, step. Times never go back. */
export class Timeline {
  private columns = allocate(firstCapacity);
  private start = 0;
  private count = 0;
  /** Entries ever appended; readers of `since` keep it as their place. */
  private appended = 0;

  constructor(private readonly capacity = capacityDefault) {}

  get total(): number {
    return this.appended;
  }

  get length(): number {
    return this.count;
  }

  /** Time of the newest entry; null when there is none. */
  get newestMs(): number | null {
    return this.count === 0 ? null : this.columns.timeMs[this.slot(this.count - 1)]!;
  }

  /** NaN sizes make a gap. A time before the newest entry's is moved up to it. */
  append(timeMs: number, usedBytes: number, reservedBytes: number, step: number): void {
    const size = this.columns.timeMs.length;
    if (this.count === size && size < this.capacity) this.grow(Math.min(size * 2, this.capacity));
    const newest = this.newestMs;
    if (this.count === this.columns.timeMs.length) {
      this.start = (this.start + 1) % this.count;
      this.count--;
    }
    const slot = this.slot(this.count);
    this.columns.timeMs[slot] = newest === null ? timeMs : Math.max(timeMs, newest);
    this.columns.usedBytes[slot] = usedBytes;
    this.columns.reservedBytes[slot] = reservedBytes;
    this.columns.step[slot] = step;
    this.count++;
    this.appended++;
  }

  /** What was appended after `place` (a former `total`), oldest first. */
  since(place: number): HistoryColumns {
    const wanted = Math.min(this.appended - place, this.count);
    const indices: number[] = [];
    for (let i = this.count - wanted; i < this.count; i++) indices.push(i);
    return this.pick(indices);
  }

  /**
   * The last `spanS` seconds (null: everything) thinned to about `buckets` intervals. Of each interval the entries with
   * the most used and the most reserved bytes and the last one are kept, so a short peak is never lost; so are gaps.
   */
  thinned(spanS: number | null, buckets: number): HistoryColumns {
    const first = spanS === null || this.newestMs === null ? 0 : this.firstAtOrAfter(this.newestMs - spanS * 1000);
    const length = this.count - first;
    const indices: number[] = [];
    if (length <= buckets * 3) {
      for (let i = first; i < this.count; i++) indices.push(i);
      return this.pick(indices);
    }
    const per = length / buckets;
    for (let b = 0; b < buckets; b++) {
      const from = first + Math.floor(b * per);
      const to = first + Math.floor((b + 1) * per);
      indices.push(...this.extremes(from, to));
    }
    return this.pick(indices);
  }

  private extremes(from: number, to: number): number[] {
    const kept = new Set<number>([to - 1]);
    let mostUsed = from;
    let mostReserved = from;
    for (let i = from; i < to; i++) {
      const used = this.columns.usedBytes[this.slot(i)]!;
      const reserved = this.columns.reservedBytes[this.slot(i)]!;
      if (Number.isNaN(used)) kept.add(i);
      if (exceeds(used, this.columns.usedBytes[this.slot(mostUsed)]!)) mostUsed = i;
      if (exceeds(reserved, this.columns.reservedBytes[this.slot(mostReserved)]!)) mostReserved = i;
    }
    kept.add(mostUsed).add(mostReserved);
    return [...kept].sort((a, b) => a - b);
  }

  private firstAtOrAfter(timeMs: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.columns.timeMs[this.slot(middle)]! < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private slot(index: number): number {
    return (this.start + index) % this.columns.timeMs.length;
  }

  private pick(indices: readonly number[]): HistoryColumns {
    const out = allocate(indices.length);
    indices.forEach((index, i) => {
      const slot = this.slot(index);
      out.timeMs[i] = this.columns.timeMs[slot]!;
      out.usedBytes[i] = this.columns.usedBytes[slot]!;
      out.reservedBytes[i] = this.columns.reservedBytes[slot]!;
      out.step[i] = this.columns.step[slot]!;
    });
    return out;
  }

  private grow(size: number): void {
    const larger = allocate(size);
    const all = this.since(this.appended - this.count);
    for (const name of ['timeMs', 'usedBytes', 'reservedBytes', 'step'] as const) larger[name].set(all[name]);
    this.columns = larger;
    this.start = 0;
  }
}

/** Any number exceeds a gap. */
function exceeds(value: number, champion: number): boolean {
  return value > champion || (Number.isNaN(champion) && !Number.isNaN(value));
}

function allocate(size: number): HistoryColumns {
  return {
    timeMs: new Float64Array(size),
    usedBytes: new Float64Array(size),
    reservedBytes: new Float64Array(size),
    step: new Float64Array(size),
  };
}
