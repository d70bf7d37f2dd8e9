/** The ledger as one bar that adds up to the card. */
import { ledgerParts, type LedgerPart } from '../../shared/ledger';
import type { ShownLedger } from '../../shared/shownLedger';
import { showSteps, type Scale } from '../../shared/units';
import type { PanelStrings } from '../../shared/panelStrings';
import { el, setAttr } from './dom';
import { fill } from './text';

/** A part that is not zero is never thinner than this, its gap included: 2 px and the gap. */
const thinnestPx = 3;

/**
 * Widths of the parts in whole pixels that sum to `width`: in proportion, a part that is not zero at least
 * `thinnestPx`, and the widest part pays for the others.
 */
export function barWidths(parts: readonly number[], width: number): number[] {
  const total = parts.reduce((sum, part) => sum + part, 0);
  if (total <= 0) return parts.map(() => 0);
  const widths = parts.map((part) => (part > 0 ? Math.max(thinnestPx, Math.floor((part / total) * width)) : 0));
  const widest = widths.indexOf(Math.max(...widths));
  const rest = width - widths.reduce((sum, w) => sum + w, 0);
  widths[widest] = Math.max(0, (widths[widest] ?? 0) + rest);
  return widths;
}

export interface BarPart {
  /** Which fill of style.css; `unknown` has none. */
  fill: LedgerPart | 'unknown';
  size: number;
}

/** A bar of filled parts; lays itself out again when its width changes. */
export class Bar {
  readonly root: HTMLElement;
  private parts: readonly BarPart[] = [];
  private segments: HTMLElement[] = [];
  private widthPx = 0;

  constructor(className: string) {
    this.root = el('div', { class: `bar ${className}` });
    new ResizeObserver(() => {
      if (this.root.clientWidth !== this.widthPx) this.layOut();
    }).observe(this.root);
  }

  /** Zero parts take no room. */
  update(parts: readonly BarPart[]): void {
    const shown = parts.filter((part) => part.size > 0);
    const same = shown.length === this.parts.length && shown.every((part, i) => part.fill === this.parts[i]?.fill);
    this.parts = shown;
    if (!same) {
      this.segments = shown.map((part) => el('i', { class: `p-${part.fill}` }));
      this.root.replaceChildren(...this.segments);
    }
    this.layOut();
  }

  private layOut(): void {
    this.widthPx = this.root.clientWidth;
    const widths = barWidths(
      this.parts.map((part) => part.size),
      this.widthPx,
    );
    this.segments.forEach((segment, i) => {
      const width = `${widths[i] ?? 0}px`;
      if (segment.style.width !== width) segment.style.width = width;
    });
  }
}

/** The bar of one device, with the whole ledger as its text. */
export class DeviceBar {
  private readonly bar = new Bar('device-bar');
  readonly root = this.bar.root;

  constructor() {
    this.root.setAttribute('role', 'img');
  }

  update(name: string, shown: ShownLedger, scale: Scale, simulated: boolean, strings: PanelStrings): void {
    const parts: BarPart[] = ledgerParts.map((part) => ({ fill: part, size: shown[part] ?? 0 }));
    const rest = shown.total - parts.reduce((sum, part) => sum + part.size, 0);
    if (rest > 0) parts.splice(ledgerParts.indexOf('free'), 0, { fill: 'unknown', size: rest });
    this.bar.update(parts);
    this.root.classList.toggle('simulated', simulated);
    const said = ledgerParts
      .map((part) => {
        const value = shown[part];
        return fill(strings.barPart, strings[part], value === null ? strings.notKnown : showSteps(value, scale));
      })
      .join(', ');
    setAttr(this.root, 'aria-label', fill(strings.barLabel, name, showSteps(shown.total, scale), scale.unit, said));
  }
}
