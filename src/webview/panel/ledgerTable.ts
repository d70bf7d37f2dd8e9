/** Where all of it is now: the ledger as a table that sums to the card's total, in the bar's order. */
import type { Ledger, LedgerPart } from '../../shared/ledger';
import type { ShownLedger } from '../../shared/shownLedger';
import type { PanelStrings } from '../../shared/panelStrings';
import { figure, type TextContext } from './context';
import { el, setAttr, setText } from './dom';
import type { DevicePicture } from './picture';
import { fill } from './text';

/** Rows in order; `sub`: a part of the row above it. */
const rows: { part: LedgerPart | 'cached'; kind: '' | 'sub' | 'free' }[] = [
  { part: 'used', kind: '' },
  { part: 'cached', kind: '' },
  { part: 'releasable', kind: 'sub' },
  { part: 'stranded', kind: 'sub' },
  { part: 'pending', kind: 'sub' },
  { part: 'free', kind: 'free' },
  { part: 'outside', kind: '' },
  { part: 'others', kind: '' },
  { part: 'unattributed', kind: '' },
  { part: 'driverReserved', kind: '' },
];

export class LedgerTable {
  private readonly caption = el('caption', { class: 'hidden-text' });
  private readonly table = el('table', { class: 'ledger' }, this.caption);
  readonly root = this.table;
  private builtFor = '';
  private figures = new Map<string, HTMLElement>();

  update(devices: readonly DevicePicture[], context: TextContext): void {
    const { strings, scale } = context;
    const names = devices.map((d) => fill(strings.deviceName, d.view.index));
    setText(this.caption, fill(strings.whereCaption, names.join(', '), scale.unit));
    const key = JSON.stringify([devices.map((d) => d.view.key), names, strings.used, scale.unit]);
    if (key !== this.builtFor) this.build(devices, names, context);
    this.builtFor = key;
    for (const { view, shown } of devices) {
      for (const { part } of rows) this.setFigure(`${view.key} ${part}`, shown, part, view.ledger, context);
      this.setFigure(`${view.key} total`, shown, 'total', view.ledger, context);
    }
  }

  private setFigure(
    key: string,
    shown: ShownLedger,
    part: LedgerPart | 'cached' | 'total',
    ledger: Ledger,
    { strings, scale, locale }: TextContext,
  ): void {
    const cell = this.figures.get(key);
    if (!cell) return;
    const steps = shown[part];
    setText(cell, figure(steps, scale));
    cell.classList.toggle('zero', steps === 0 || steps === null);
    const bytes = exactBytes(ledger, part);
    const exact = bytes === null ? strings.noDriverView : fill(strings.exactBytes, bytes.toLocaleString(locale));
    setAttr(cell, 'title', exact);
  }

  private build(devices: readonly DevicePicture[], names: readonly string[], { strings, scale }: TextContext): void {
    this.figures = new Map();
    const figureCell = (key: string) => {
      const cell = el('td', { class: 'figure' });
      this.figures.set(key, cell);
      return cell;
    };
    const head = el(
      'thead',
      { class: devices.length === 1 ? 'hidden-text' : '' },
      el(
        'tr',
        {},
        el('th', { attrs: { scope: 'col' } }, scale.unit),
        ...names.map((name) => el('th', { class: 'figure', attrs: { scope: 'col' } }, name)),
      ),
    );
    const body = rows.map(({ part, kind }) =>
      el(
        'tr',
        { class: kind, title: rowTip(part, strings) },
        el(
          'th',
          { attrs: { scope: 'row' } },
          el(
            'span',
            { class: 'ledger-name' },
            el('i', { class: `swatch p-${part}` }),
            el('span', { class: 'cut' }, strings[part]),
          ),
        ),
        ...devices.map((d) => figureCell(`${d.view.key} ${part}`)),
      ),
    );
    const total = el(
      'tr',
      { class: 'total' },
      el('th', { attrs: { scope: 'row' } }, strings.total),
      ...devices.map((d) => figureCell(`${d.view.key} total`)),
    );
    this.table.replaceChildren(this.caption, head, el('tbody', {}, ...body, total));
  }
}

function rowTip(part: LedgerPart | 'cached', strings: PanelStrings): string {
  return part === 'cached' ? strings.cachedTipShort : strings[`${part}Tip`];
}

/** The exact bytes behind a row; null: not known. */
function exactBytes(ledger: Ledger, part: LedgerPart | 'cached' | 'total'): number | null {
  if (part === 'total') return ledger.totalBytes;
  if (part !== 'cached') return ledger[part];
  const { pending, stranded, releasable } = ledger;
  return pending === null || stranded === null || releasable === null ? null : pending + stranded + releasable;
}
