/** The chart in the page: its element, keyboard, spoken texts, and when it draws. */
import { sumKnown } from '../../shared/shownLedger';
import { formatCount, toSteps } from '../../shared/units';
import type { Announcer } from './announce';
import { Chart, type Moment } from './chart';
import { figure, sizeText, type TextContext } from './context';
import { el, setAttr } from './dom';
import { freedSums } from './freedNote';
import { History } from './history';
import { spans, type Span } from './host';
import type { DevicePicture, Picture } from './picture';
import { momentFigures } from './readout';
import { onThemeChange, readChartTheme, tempo } from './theme';
import { fill, timeOfDay } from './text';

/** From this width of the page on the layout is the wide one, as in style.css. */
const wideFromPx = 720;

interface Shown {
  device: DevicePicture;
  picture: Picture;
  span: Span;
  context: TextContext;
  /** `performance.now()` when the picture's state arrived: the time axis goes on between two states. */
  arrivedMs: number;
}

export class ChartPane {
  readonly history = new History();
  readonly root = el('div', { class: 'chart', attrs: { role: 'application', tabindex: '0' } });
  private readonly chart: Chart;
  private shown: Shown | null = null;
  private timer: number | null = null;
  private drawnMs = -Infinity;
  private byKeyboard = false;

  constructor(
    private readonly page: HTMLElement,
    private readonly announcer: Announcer,
    onMoment: (moment: Moment | null) => void,
  ) {
    this.chart = new Chart(this.root, this.history, (moment) => {
      onMoment(moment);
      if (moment && this.byKeyboard) this.speak(moment);
    });
    this.root.addEventListener('keydown', (event) => this.onKey(event));
    this.root.addEventListener('pointermove', () => (this.byKeyboard = false));
    this.root.addEventListener('blur', () => this.chart.setCursor(null));
    onThemeChange(() => this.retheme());
    new ResizeObserver(() => this.drawNow()).observe(this.root);
    document.addEventListener('visibilitychange', () => this.wake());
  }

  /** What to show from now on; null: nothing, and nothing runs. */
  update(shown: Shown | null): void {
    const first = this.shown === null;
    const changed = first || shown?.span !== this.shown?.span || shown?.device.view.key !== this.shown?.device.view.key;
    this.shown = shown;
    if (!shown) return;
    this.describe(shown);
    if (first) this.retheme();
    else if (changed) this.drawNow();
    this.wake();
  }

  /** Data came: draw soon, at the page's tempo. */
  wake(): void {
    if (this.timer !== null || !this.shown || document.hidden) return;
    const { slideMs, digitsMs } = tempo();
    const pace = slideMs ?? digitsMs;
    this.timer = window.setTimeout(
      () => {
        this.timer = null;
        window.requestAnimationFrame(() => this.drawNow());
      },
      Math.max(0, this.drawnMs + pace - performance.now()),
    );
  }

  private retheme(): void {
    this.chart.setTheme(readChartTheme(this.page));
    this.drawNow();
  }

  private drawNow(): void {
    if (!this.shown || document.hidden) return;
    const { device, picture, span, context, arrivedMs } = this.shown;
    const { strings, locale, scale } = context;
    const wide = this.page.clientWidth >= wideFromPx;
    const { totalBytes, outside, others, unattributed, driverReserved } = device.view.ledger;
    this.drawnMs = performance.now();
    const nowMs = picture.timeMs + (this.drawnMs - arrivedMs);
    this.chart.draw({
      spanS: span,
      nowMs: Math.max(nowMs, this.history.lastTimeMs ?? nowMs),
      scale,
      wide,
      heightPx: wide ? 262 : 152,
      totalBytes,
      unavailableBytes: sumKnown([outside, others, unattributed, driverReserved]),
      unavailableText: figure(device.shown.unavailable, scale),
      peakUsedBytes: device.view.peakUsedBytes,
      freed: newestFreed(device, context),
      strings,
      locale,
    });
    // The time axis slides on between two messages, about a pixel at a time.
    if (tempo().slideMs !== null) {
      const pixelMs = ((span ?? 3600) * 1000) / this.chart.plotWidth;
      window.clearTimeout(this.timer ?? undefined);
      this.timer = window.setTimeout(
        () => {
          this.timer = null;
          this.wake();
        },
        Math.min(1000, pixelMs),
      );
    }
  }

  private describe({ device, span, context }: Shown): void {
    const { strings, scale } = context;
    const { view, shown } = device;
    const ranges = [strings.last1m, strings.last10m, strings.last1h, strings.lastAll];
    const peak = view.peakUsedBytes === null ? null : toSteps(view.peakUsedBytes, scale);
    const unit = (steps: number | null) => `${figure(steps, scale)} ${scale.unit}`;
    setAttr(this.root, 'aria-roledescription', strings.chartRole);
    setAttr(
      this.root,
      'aria-label',
      fill(
        strings.chartLabel,
        fill(strings.deviceName, view.index),
        ranges[spans.indexOf(span)] ?? '',
        unit(shown.used),
        figure(peak, scale),
        unit(shown.reserved),
      ),
    );
  }

  private speak(moment: Moment): void {
    if (!this.shown) return;
    const { strings, locale, scale } = this.shown.context;
    const time = timeOfDay(moment.timeMs, locale);
    if (moment.usedBytes === null) return this.announcer.say(fill(strings.cursorGap, time));
    const { used, cached, reserved } = momentFigures(moment, this.shown.context);
    const figures = [figure(used, scale), figure(cached, scale), figure(reserved, scale), scale.unit];
    this.announcer.say(
      moment.step === null
        ? fill(strings.cursorSpokenNoStep, time, ...figures)
        : fill(strings.cursorSpoken, time, formatCount(moment.step, locale), ...figures),
    );
  }

  private onKey(event: KeyboardEvent): void {
    const unit = event.shiftKey ? 'step' : 'column';
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.chart.moveCursor(-1, unit),
      ArrowRight: () => this.chart.moveCursor(1, unit),
      PageUp: () => this.chart.moveCursorBy(-0.1),
      PageDown: () => this.chart.moveCursorBy(0.1),
      Home: () => this.chart.moveCursorBy(-Infinity),
      End: () => this.chart.moveCursorBy(Infinity),
      Escape: () => this.chart.setCursor(null),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    this.byKeyboard = true;
    action();
  }
}

/** The newest cache freed on the device that brought something; the lane marks it. */
function newestFreed(device: DevicePicture, { strings, scale }: TextContext): { timeMs: number; text: string } | null {
  let newest: { timeMs: number; text: string } | null = null;
  for (const { freed } of device.sessions) {
    if (!freed?.result.done || (newest && newest.timeMs > freed.timeMs)) continue;
    const { returnedBytes } = freedSums(freed.result);
    if (returnedBytes > 0)
      newest = { timeMs: freed.timeMs, text: fill(strings.chartFreed, sizeText(returnedBytes, scale)) };
  }
  return newest;
}
