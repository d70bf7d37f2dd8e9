/** What stands in for chart and sessions while there are none. */
import type { FromPanel } from '../../shared/panelProtocol';
import type { PanelStrings } from '../../shared/panelStrings';
import { el } from './dom';
import type { Host } from './host';
import { icon, type IconName } from './icons';
import type { EmptyKind, Picture } from './picture';

interface Action {
  text: string;
  message: FromPanel;
}

interface Page {
  glyph: IconName;
  title: string;
  text: string;
  button: Action;
  primary: boolean;
  links: Action[];
}

export class EmptyState {
  readonly root = el('div', { class: 'empty' });
  private shown = '';

  constructor(private readonly host: Host) {}

  update(picture: Picture, strings: PanelStrings): void {
    const kind = picture.empty;
    const key = `${kind} ${picture.lookedFor.join()} ${strings.showLog}`;
    if (key === this.shown) return;
    this.shown = key;
    if (kind === null || kind === 'loading') return this.root.replaceChildren();
    const page = pageOf(kind, strings);
    const button = (action: Action, className: string) =>
      el('button', { class: className, onClick: () => this.host.post(action.message) }, action.text);
    this.root.replaceChildren(
      el('h2', {}, icon(page.glyph, page.glyph === 'warning' ? 'warn' : ''), page.title),
      el('p', {}, page.text),
      ...(kind === 'noDriver' && picture.lookedFor.length > 0 ? [lookedFor(picture.lookedFor, strings)] : []),
      button(page.button, page.primary ? 'button primary' : 'button'),
      el('ul', { class: 'links' }, ...page.links.map((link) => el('li', {}, button(link, 'link')))),
    );
  }
}

function lookedFor(names: readonly string[], strings: PanelStrings): HTMLElement {
  return el(
    'dl',
    { class: 'looked-for small' },
    el('dt', {}, strings.lookedFor),
    ...names.map((name) => el('dd', {}, el('code', {}, name))),
  );
}

function pageOf(kind: Exclude<EmptyKind, 'loading'>, strings: PanelStrings): Page {
  const simulate: Action = { text: strings.runSimulated, message: { type: 'runSimulated' } };
  const run: Action = { text: strings.runWithAgent, message: { type: 'runWithAgent' } };
  const again: Action = { text: strings.checkAgain, message: { type: 'checkDriver' } };
  const log: Action = { text: strings.showLog, message: { type: 'showLog' } };
  switch (kind) {
    case 'noSession':
      return {
        glyph: 'playOutline',
        title: strings.noSessionTitle,
        text: strings.noSessionText,
        button: run,
        primary: true,
        links: [simulate],
      };
    case 'noDriver':
      return {
        glyph: 'warning',
        title: strings.noDriverTitle,
        text: strings.noDriverText,
        button: simulate,
        primary: true,
        links: [again, log],
      };
    case 'noGpu':
      return {
        glyph: 'warning',
        title: strings.noGpuTitle,
        text: strings.noGpuText,
        button: simulate,
        primary: true,
        links: [again, log],
      };
    case 'mismatch':
      return {
        glyph: 'warning',
        title: strings.mismatchTitle,
        text: strings.mismatchText,
        button: again,
        primary: false,
        links: [simulate, log],
      };
    case 'notAnswering':
      return {
        glyph: 'warning',
        title: strings.notAnsweringTitle,
        text: strings.notAnsweringText,
        button: { ...again, text: strings.tryNow },
        primary: false,
        links: [log],
      };
  }
}
