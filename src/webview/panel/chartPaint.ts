/** What the chart shows besides the areas: grid, ceiling, peak, marks, step ticks and the axes' texts. */
import type uPlot from 'uplot';
import type { PanelStrings } from '../../shared/panelStrings';
import { formatCount, showSteps, toSteps } from '../../shared/units';
import { labelGapPx, type ChartView } from './chart';
import type { DrawColumns } from './history';
import { axisTime, fill } from './text';
import type { ChartTheme } from './theme';

export interface ChartMarks {
  totalBytes: number;
  /** What PyTorch cannot have at present; null: not known. */
  unavailableBytes: number | null;
  /** The page's figure for it, which is a sum of shown ones. */
  unavailableText: string;
  peakUsedBytes: number | null;
  freed: { timeMs: number; text: string } | null;
  strings: PanelStrings;
  locale: string;
}

export interface Overlay {
  theme: ChartTheme;
  view: ChartView;
  columns: DrawColumns;
  fromMs: number;
}

/** The numbers of the vertical axis, as they are written. */
export function gridLabels(view: ChartView): string[] {
  return gridValues(view.totalBytes / view.scale.unitBytes).map(String);
}

/** Grid lines and their numbers, under the areas. */
export function paintGrid(plot: uPlot, { theme, view }: Overlay): void {
  const { ctx, bbox } = plot;
  const { unitBytes } = view.scale;
  ctx.save();
  ctx.font = theme.font;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  for (const value of gridValues(view.totalBytes / unitBytes)) {
    // The uppermost is the card's total itself, which is seldom a round number.
    const bytes = Math.min(value * unitBytes, view.totalBytes);
    const y = crisp(plot.valToPos(bytes, 'y', true));
    if (bytes < view.totalBytes) horizontal(ctx, bbox.left, bbox.left + bbox.width, y, theme.grid, theme.pixelRatio);
    ctx.fillStyle = theme.quiet;
    ctx.fillText(String(value), bbox.left + bbox.width + labelGapPx * theme.pixelRatio, y);
  }
  ctx.restore();
}

/** Lines, marks and texts over the areas. */
export function paintOverlay(plot: uPlot, overlay: Overlay): void {
  const { theme, view } = overlay;
  const { ctx, bbox } = plot;
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.font = theme.font;
  // uPlot lets the newest sample's line run half its width past the plot: beyond "now" there is nothing.
  ctx.clearRect(right, bbox.top, 3 * theme.pixelRatio, bbox.height);
  const top = crisp(plot.valToPos(view.totalBytes, 'y', true));
  if (view.unavailableBytes !== null && view.unavailableBytes > 0) paintUnavailable(plot, overlay, top);
  horizontal(ctx, bbox.left, right, top, theme.text, theme.pixelRatio);
  if (view.peakUsedBytes !== null && view.peakUsedBytes > 0) {
    const y = crisp(plot.valToPos(view.peakUsedBytes, 'y', true));
    horizontal(ctx, bbox.left, right, y, theme.text, theme.pixelRatio, [2, 3]);
    if (view.wide) {
      const peak = fill(view.strings.peakUsed, showSteps(toSteps(view.peakUsedBytes, view.scale), view.scale));
      haloText(overlay, ctx, peak, bbox.left + 6 * theme.pixelRatio, y - 6 * theme.pixelRatio, 'left');
    }
  }
  if (view.freed) paintFreed(plot, overlay, view.freed);
  const tickText = paintTicks(plot, overlay);
  paintTimeAxis(plot, overlay, tickText);
  ctx.restore();
}

/** The wall: from the total down to what PyTorch can have at present. */
function paintUnavailable(plot: uPlot, overlay: Overlay, top: number): void {
  const { theme, view } = overlay;
  const { ctx, bbox } = plot;
  const bytes = view.unavailableBytes ?? 0;
  const y = crisp(plot.valToPos(view.totalBytes - bytes, 'y', true));
  ctx.fillStyle = theme.unavailable;
  ctx.fillRect(bbox.left, top, bbox.width, y - top);
  horizontal(ctx, bbox.left, bbox.left + bbox.width, y, theme.text, theme.pixelRatio);
  if (!view.wide || y - top < 18 * theme.pixelRatio) return;
  const text = fill(view.strings.chartWall, view.unavailableText);
  haloText(overlay, ctx, text, bbox.left + 6 * theme.pixelRatio, (top + y) / 2 + 4 * theme.pixelRatio, 'left');
}

/** The arrow in the lane and its line, where a cache was freed. */
function paintFreed(plot: uPlot, overlay: Overlay, freed: { timeMs: number; text: string }): void {
  const { theme, view, fromMs } = overlay;
  if (freed.timeMs < fromMs || freed.timeMs > view.nowMs) return;
  const { ctx, bbox } = plot;
  const px = theme.pixelRatio;
  const x = crisp(plot.valToPos(freed.timeMs, 'x', true));
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = px;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.moveTo(x, bbox.top - 13 * px);
  ctx.lineTo(x, bbox.top - 4 * px);
  ctx.moveTo(x - 3.5 * px, bbox.top - 7.5 * px);
  ctx.lineTo(x, bbox.top - 4 * px);
  ctx.lineTo(x + 3.5 * px, bbox.top - 7.5 * px);
  ctx.stroke();
  if (!view.wide) return;
  const onLeft = x > bbox.left + bbox.width / 2;
  haloText(overlay, ctx, freed.text, x + (onLeft ? -8 : 8) * px, bbox.top - 5 * px, onLeft ? 'right' : 'left');
}

/** Ticks below the axis where steps ended; returns what the axis says about them, empty without ticks. */
function paintTicks(plot: uPlot, { theme, view, columns }: Overlay): string {
  const { ctx, bbox } = plot;
  const { step, timeMs } = columns;
  const px = theme.pixelRatio;
  const known = step.filter((s) => s !== null);
  const first = known[0];
  const last = known[known.length - 1];
  if (first === undefined || last === undefined || last <= first) return '';
  const begin = timeMs[step.indexOf(first)] ?? 0;
  const width = bbox.left + bbox.width - plot.valToPos(begin, 'x', true);
  const every = tickInterval(width / px / (last - first));
  const y = bbox.top + bbox.height;
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = px;
  ctx.beginPath();
  let previous: number | null = null;
  step.forEach((now, i) => {
    if (now === null) {
      previous = null;
      return;
    }
    if (previous !== null && Math.floor(now / every) > Math.floor(previous / every)) {
      const x = crisp(plot.valToPos(timeMs[i] ?? 0, 'x', true));
      ctx.moveTo(x, y);
      ctx.lineTo(x, y + 4 * px);
    }
    previous = now;
  });
  ctx.stroke();
  const { strings, locale } = view;
  return every === 1 ? strings.chartTicksOne : fill(strings.chartTicks, formatCount(every, locale));
}

/** `−10 min … now`, with the quarters in between on the wide page and the ticks' meaning on the narrow one. */
function paintTimeAxis(plot: uPlot, overlay: Overlay, tickText: string): void {
  const { theme, view, fromMs } = overlay;
  const { ctx, bbox } = plot;
  const px = theme.pixelRatio;
  const y = bbox.top + bbox.height + 16 * px;
  const spanS = (view.nowMs - fromMs) / 1000;
  const right = bbox.left + bbox.width;
  const write = (text: string, x: number, align: CanvasTextAlign, colour = theme.quiet) => {
    ctx.textAlign = align;
    ctx.textBaseline = 'alphabetic';
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
  };
  // Over everything there is, whole minutes are exact enough for the left end.
  const leftS = spanS > 120 ? Math.round(spanS / 60) * 60 : spanS;
  const leftText = axisTime(leftS, view.strings);
  write(leftText, bbox.left, 'left');
  write(view.strings.nowWord, right, 'right', theme.text);
  if (view.wide && view.spanS !== null) {
    for (const share of [0.25, 0.5, 0.75]) {
      write(axisTime(spanS * (1 - share), view.strings), bbox.left + bbox.width * share, 'center');
    }
  } else if (tickText !== '') {
    const free = bbox.width - ctx.measureText(leftText).width - ctx.measureText(view.strings.nowWord).width;
    if (ctx.measureText(tickText).width + 24 * px < free)
      write(tickText, bbox.left + bbox.width / 2 + 12 * px, 'center');
  }
}

/** Round values from 0 to the card's total, three or four of them; `total` in units. */
export function gridValues(total: number): number[] {
  const whole = Math.round(total);
  const powersOfTwoAndTens = (n: number) => Number.isInteger(n) && (Number.isInteger(Math.log2(n)) || n % 10 === 0);
  const parts = [4, 3, 5, 2].find((n) => powersOfTwoAndTens(whole / n));
  if (parts !== undefined) return Array.from({ length: parts + 1 }, (_, i) => (whole / parts) * i);
  const step = [1, 2, 4, 8, 16, 20, 32, 40, 64, 128, 256, 512, 1024].find((n) => total / n <= 4.5) ?? total / 4;
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, i) => step * i);
}

/** Every how many steps a tick stands, when one step is `stepPx` CSS pixels wide: at least 6 px apart. */
export function tickInterval(stepPx: number): number {
  let every = 1;
  for (let decade = 1; every * stepPx < 6; decade *= 10) {
    every = 5 * decade;
    if (every * stepPx < 6) every = 10 * decade;
  }
  return every;
}

function horizontal(
  ctx: CanvasRenderingContext2D,
  from: number,
  to: number,
  y: number,
  colour: string,
  pixelRatio: number,
  dash: number[] = [],
): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = pixelRatio;
  ctx.setLineDash(dash.map((d) => d * pixelRatio));
  ctx.beginPath();
  ctx.moveTo(from, y);
  ctx.lineTo(to, y);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Text that stays readable on areas and lines: with an edge in the background's colour. */
function haloText(
  { theme }: Overlay,
  ctx: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  align: CanvasTextAlign,
): void {
  ctx.textAlign = align;
  ctx.textBaseline = 'alphabetic';
  ctx.lineJoin = 'round';
  ctx.lineWidth = 3 * theme.pixelRatio;
  ctx.strokeStyle = theme.background;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = theme.text;
  ctx.fillText(text, x, y);
}

/** The middle of a device pixel, where a 1 px line is sharp. */
function crisp(position: number): number {
  return Math.floor(position) + 0.5;
}
