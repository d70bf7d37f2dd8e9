/** The chart: used and cached stacked up to reserved, under the card's total. uPlot draws areas and cursor. */
import uPlot from 'uplot';
import type { Scale } from '../../shared/units';
import { gridLabels, paintGrid, paintOverlay, type ChartMarks, type Overlay } from './chartPaint';
import type { DrawColumns, History } from './history';
import type { ChartTheme } from './theme';

/** Where the cursor stands; null: nowhere, the read-out shows now. */
export interface Moment {
  timeMs: number;
  usedBytes: number | null;
  reservedBytes: number | null;
  step: number | null;
}

export interface ChartView extends ChartMarks {
  spanS: number | null;
  nowMs: number;
  scale: Scale;
  /** Space for annotations on the wide page; lane and height follow design/panel.md section 3. */
  wide: boolean;
  heightPx: number;
}

/** Room for the time axis, and between the plot and its numbers right of it, in CSS pixels. */
const timeAxisPx = 20;
export const labelGapPx = 6;
/** Room for the numbers while there are none yet, and at least: three figures. */
const leastGutterPx = 26;

export class Chart {
  private plot: uPlot | null = null;
  private columns: DrawColumns = { timeMs: [], used: [], reserved: [], step: [] };
  private view: ChartView | null = null;
  private theme: ChartTheme | null = null;
  private fromMs = 0;
  private cursorMs: number | null = null;
  /** Room right of the plot for the numbers of the vertical axis, in CSS pixels. */
  private gutterPx = leastGutterPx;
  private readonly measure = document.createElement('canvas').getContext('2d');

  constructor(
    private readonly parent: HTMLElement,
    private readonly history: History,
    private readonly onMoment: (moment: Moment | null) => void,
  ) {}

  /** CSS pixels between the left edge and *now*. */
  get plotWidth(): number {
    return Math.max(1, this.parent.clientWidth - this.gutterPx);
  }

  /** Rebuilds with the theme's colours at the next draw. */
  setTheme(theme: ChartTheme): void {
    this.theme = theme;
    this.plot?.destroy();
    this.plot = null;
  }

  draw(view: ChartView): void {
    if (!this.theme || this.parent.clientWidth === 0) return;
    const gutterPx = this.gutterFor(view, this.theme);
    const rebuilt = this.view?.wide !== view.wide || gutterPx !== this.gutterPx;
    this.view = view;
    this.gutterPx = gutterPx;
    const spanMs = shownSpanMs(view.spanS, view.nowMs - (this.history.firstTimeMs ?? view.nowMs));
    this.fromMs = view.nowMs - spanMs;
    this.columns = this.history.draw(this.fromMs, view.nowMs, spanMs / this.plotWidth);
    if (rebuilt) {
      this.plot?.destroy();
      this.plot = null;
    }
    const data: uPlot.AlignedData = [this.columns.timeMs, this.columns.reserved, this.columns.used];
    if (!this.plot) this.plot = new uPlot(this.options(this.theme, view), data, this.parent);
    else {
      const width = this.parent.clientWidth;
      if (this.plot.width !== width || this.plot.height !== view.heightPx) {
        this.plot.setSize({ width, height: view.heightPx });
      }
      this.plot.setData(data);
    }
    if (this.cursorMs !== null) this.placeCursor(this.cursorMs);
  }

  /** Fits the widest number: four figures on a MiB page. */
  private gutterFor(view: ChartView, theme: ChartTheme): number {
    if (this.measure === null) return leastGutterPx;
    this.measure.font = theme.font;
    const widths = gridLabels(view).map((text) => this.measure?.measureText(text).width ?? 0);
    return Math.max(leastGutterPx, labelGapPx + Math.ceil(Math.max(0, ...widths) / theme.pixelRatio));
  }

  /** Puts the cursor at a time (kept while the chart slides), or away. */
  setCursor(timeMs: number | null): void {
    this.cursorMs = timeMs;
    if (timeMs !== null) return this.placeCursor(timeMs);
    this.plot?.setCursor({ left: -10, top: -10 });
    this.onMoment(null);
  }

  /** Moves the cursor by sample columns, or by step marks; from nowhere it begins at the newest. */
  moveCursor(by: number, unit: 'column' | 'step'): void {
    const { timeMs, step } = this.columns;
    if (timeMs.length === 0) return;
    const at = this.cursorMs === null ? timeMs.length - 1 : nearest(timeMs, this.cursorMs);
    let to = clamp(at + (this.cursorMs === null ? Math.min(by, 0) : by), 0, timeMs.length - 1);
    if (unit === 'step') {
      const direction = Math.sign(by);
      to = at;
      while (to + direction >= 0 && to + direction < timeMs.length) {
        to += direction;
        if (step[to] !== step[at]) break;
      }
    }
    this.setCursor(timeMs[to] ?? null);
  }

  /** Moves the cursor by a share of the range; ±Infinity: to its ends. */
  moveCursorBy(share: number): void {
    const { timeMs } = this.columns;
    const first = timeMs[0];
    const last = timeMs[timeMs.length - 1];
    if (first === undefined || last === undefined || !this.view) return;
    const target = (this.cursorMs ?? last) + share * (this.view.nowMs - this.fromMs);
    this.setCursor(timeMs[nearest(timeMs, clamp(target, first, last))] ?? null);
  }

  private placeCursor(timeMs: number): void {
    if (!this.plot) return;
    const left = this.plot.valToPos(timeMs, 'x');
    const used = this.columns.used[nearest(this.columns.timeMs, timeMs)] ?? 0;
    this.plot.setCursor({ left, top: this.plot.valToPos(used, 'y') });
  }

  private moment(index: number | null | undefined): Moment | null {
    const timeMs = index === null || index === undefined ? undefined : this.columns.timeMs[index];
    if (index === null || index === undefined || timeMs === undefined) return null;
    return {
      timeMs,
      usedBytes: this.columns.used[index] ?? null,
      reservedBytes: this.columns.reserved[index] ?? null,
      step: this.columns.step[index] ?? null,
    };
  }

  private overlay(theme: ChartTheme): Overlay | null {
    if (!this.view) return null;
    return { theme, view: this.view, columns: this.columns, fromMs: this.fromMs };
  }

  private options(theme: ChartTheme, view: ChartView): uPlot.Options {
    const paint = (draw: (plot: uPlot, overlay: Overlay) => void) => (plot: uPlot) => {
      const overlay = this.overlay(theme);
      if (overlay) draw(plot, overlay);
    };
    return {
      width: this.parent.clientWidth,
      height: view.heightPx,
      pxAlign: 1,
      padding: [view.wide ? 20 : 17, this.gutterPx, timeAxisPx, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false, setScale: false },
        points: { size: 7, width: 1.5, fill: () => theme.background, stroke: () => theme.text },
      },
      scales: {
        x: { time: false, range: () => [this.fromMs, this.view?.nowMs ?? 1] },
        y: { range: () => [0, this.view?.totalBytes ?? 1] },
      },
      axes: [{ show: false }, { show: false }],
      series: [
        {},
        { stroke: theme.own, width: 1.5, points: { show: false } },
        { stroke: theme.own, width: 1, fill: theme.used, points: { show: false } },
      ],
      // uPlot takes any canvas fill here; its types know strings and functions only.
      bands: [{ series: [1, 2], fill: () => theme.releasable as string }],
      hooks: {
        drawClear: [paint(paintGrid)],
        draw: [paint(paintOverlay)],
        setCursor: [(plot) => this.onMoment(this.moment(plot.cursor.idx))],
      },
    };
  }
}

/**
 * How much time the chart shows, in milliseconds: the chosen span (null: all there is), but while a session is young
 * no more than four times what is known of it, so that its first minute is not a sliver at the edge.
 */
export function shownSpanMs(spanS: number | null, knownMs: number): number {
  const atLeast = 60_000;
  return spanS === null ? Math.max(atLeast, knownMs) : Math.min(spanS * 1000, Math.max(atLeast, 4 * knownMs));
}

/** Index of the entry nearest to `value` in a rising list. */
function nearest(list: readonly number[], value: number): number {
  let best = 0;
  for (let i = 1; i < list.length; i++) {
    if (Math.abs((list[i] ?? 0) - value) <= Math.abs((list[best] ?? 0) - value)) best = i;
  }
  return best;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
