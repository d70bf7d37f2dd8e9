import { el, setAttr, setText, show } from './dom';
import { setIcon } from './icons';

/** A section with a header that opens and closes it; its body keeps its elements while closed. */
export class Section {
  private readonly glyph = el('span', { class: 'glyph' });
  private readonly title = el('span');
  private readonly count = el('span', { class: 'section-count' });
  private readonly unit = el('span', { class: 'section-count wide' });
  private readonly toggle: HTMLButtonElement;
  readonly body = el('div', { class: 'section-body' });
  readonly root: HTMLElement;

  constructor(
    readonly id: string,
    onToggle: (id: string) => void,
  ) {
    this.toggle = el('button', { class: 'section-toggle', onClick: () => onToggle(id) }, this.glyph, this.title);
    this.root = el(
      'section',
      { class: `section section-${id}`, attrs: { 'aria-labelledby': `section-${id}` } },
      el('h2', { attrs: { id: `section-${id}` } }, this.toggle, this.count, this.unit),
      this.body,
    );
  }

  /** `unit` is said where the wide page has figures under the header that the narrow one has not. */
  update(title: string, count: string, unit: string, open: boolean): void {
    setText(this.title, title);
    setText(this.count, count);
    setText(this.unit, unit);
    setAttr(this.toggle, 'aria-expanded', String(open));
    setIcon(this.glyph, open ? 'chevronDown' : 'chevronRight');
    show(this.body, open);
  }
}
