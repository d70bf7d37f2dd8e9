/** The three numbers above the chart: now, or the moment under the cursor. */
import type { PanelStrings } from '../../shared/panelStrings';
import { formatCount, toSteps } from '../../shared/units';
import type { Moment } from './chart';
import { figure, sizeText, type TextContext } from './context';
import { el, setAttr, setText } from './dom';
import { spans, type Span } from './host';
import type { DevicePicture, Picture } from './picture';
import { arrowKeysChoose, markChosen } from './radios';
import { fill, timeOfDay } from './text';

export class ReadOut {
  private readonly label = el('span', { class: 'moment small cut' });
  private readonly ranges: Ranges;
  private readonly used = new Value(el('i', { class: 'swatch p-used' }));
  private readonly cached = new Value(el('i', { class: 'swatch p-releasable' }));
  private readonly reserved = new Value(el('i', { class: 'bracket' }));
  private readonly at = new Value(null);
  readonly root: HTMLElement;

  constructor(chooseSpan: (span: Span) => void) {
    this.ranges = new Ranges(chooseSpan);
    this.at.root.classList.add('at');
    this.root = el(
      'div',
      { class: 'readout' },
      el('div', { class: 'readout-head' }, this.label, this.ranges.root),
      el('div', { class: 'values' }, this.used.root, this.cached.root, this.reserved.root, this.at.root),
    );
  }

  update(device: DevicePicture, picture: Picture, moment: Moment | null, span: Span, context: TextContext): void {
    const { strings, scale, locale } = context;
    const { shown, view } = device;
    this.ranges.update(span, strings);
    const now = { used: shown.used, cached: shown.cached, reserved: shown.reserved };
    const at = moment && momentFigures(moment, context);
    const main = at ?? now;
    const peak = (bytes: number | null) =>
      bytes === null ? '' : fill(strings.peak, figure(toSteps(bytes, scale), scale));
    const under = (value: number | null, otherwise: string) =>
      at ? fill(strings.nowValue, figure(value, scale)) : otherwise;
    const releasable = shown.releasable === null ? '' : fill(strings.releasableValue, figure(shown.releasable, scale));
    this.used.update(strings.used, figure(main.used, scale), scale.unit, under(now.used, peak(view.peakUsedBytes)));
    this.cached.update(strings.cached, figure(main.cached, scale), scale.unit, under(now.cached, releasable));
    this.reserved.update(
      strings.reserved,
      figure(main.reserved, scale),
      scale.unit,
      under(now.reserved, peak(view.peakReservedBytes)),
    );
    this.used.explain(main.used === null ? strings.noFigureYet : strings.usedTip);
    this.cached.explain(main.cached === null ? strings.noFigureYet : cachedTip(device, context));
    this.reserved.explain(main.reserved === null ? strings.noFigureYet : strings.reservedTip);

    const newest = Math.max(-1, ...device.sessions.map((s) => s.step));
    const step = moment ? moment.step : newest < 0 ? null : newest;
    const time = moment ? timeOfDay(moment.timeMs, locale) : strings.nowWord;
    const stepText = step === null ? '' : formatCount(step, locale);
    this.at.update(strings.at, time, '', step === null ? '' : fill(strings.stepValue, stepText));
    setText(this.label, this.labelText(device, picture, moment, time, stepText, strings));
  }

  private labelText(
    device: DevicePicture,
    picture: Picture,
    moment: Moment | null,
    time: string,
    step: string,
    strings: PanelStrings,
  ): string {
    if (moment) return step === '' ? time : fill(strings.momentStep, time, step);
    if (picture.devices.length < 2) return strings.now;
    return fill(strings.deviceNow, fill(strings.deviceName, device.view.index));
  }
}

/** The figures under the cursor: two roundings and a difference, as everywhere. */
export function momentFigures(
  moment: Moment,
  { scale }: TextContext,
): { used: number | null; cached: number | null; reserved: number | null } {
  const used = moment.usedBytes === null ? null : toSteps(moment.usedBytes, scale);
  const reserved = moment.reservedBytes === null ? null : toSteps(moment.reservedBytes, scale);
  return { used, reserved, cached: used === null || reserved === null ? null : reserved - used };
}

/** What cached is made of, with exact figures where they are known. */
function cachedTip({ view }: DevicePicture, { strings, scale }: TextContext): string {
  const { releasable, stranded, pending } = view.ledger;
  if (releasable === null || stranded === null || pending === null) return strings.cachedTipShort;
  return fill(strings.cachedTip, ...[releasable, stranded, pending].map((bytes) => sizeText(bytes, scale)));
}

class Value {
  private readonly name = el('span');
  private readonly value = el('span', { class: 'value-number' });
  private readonly unit = el('span', { class: 'value-unit' });
  private readonly under = el('div', { class: 'value-under' });
  readonly root: HTMLElement;

  constructor(swatch: HTMLElement | null) {
    this.root = el(
      'div',
      { class: 'value' },
      el('div', { class: 'value-name' }, ...(swatch ? [swatch] : []), this.name),
      el('div', { class: 'value-main' }, this.value, ' ', this.unit),
      this.under,
    );
  }

  update(name: string, value: string, unit: string, under: string): void {
    setText(this.name, name);
    setText(this.value, value);
    setText(this.unit, unit);
    setText(this.under, under);
  }

  explain(tip: string): void {
    setAttr(this.root, 'title', tip);
  }
}

/** `1 m 10 m 1 h All`. */
class Ranges {
  readonly root = el('div', { class: 'ranges', attrs: { role: 'radiogroup' } });
  private readonly buttons: HTMLButtonElement[];

  constructor(choose: (span: Span) => void) {
    this.buttons = spans.map((span) => el('button', { attrs: { role: 'radio' }, onClick: () => choose(span) }));
    this.root.append(...this.buttons);
    arrowKeysChoose(this.root, { back: ['ArrowLeft', 'ArrowUp'], on: ['ArrowRight', 'ArrowDown'] }, (radio) =>
      radio.click(),
    );
  }

  update(span: Span, strings: PanelStrings): void {
    setAttr(this.root, 'aria-label', strings.timeRange);
    const names = [strings.range1m, strings.range10m, strings.range1h, strings.rangeAll];
    this.buttons.forEach((button, i) => setText(button, names[i] ?? ''));
    markChosen(this.buttons, this.buttons[spans.indexOf(span)] ?? null);
  }
}
