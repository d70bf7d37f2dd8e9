/** The page: takes the host's messages, keeps the newest state, and shows it at a calm pace. */
import type { PanelState, ToPanel } from '../../shared/panelProtocol';
import type { PanelStrings } from '../../shared/panelStrings';
import { Announcer } from './announce';
import type { Moment } from './chart';
import { ChartPane } from './chartPane';
import type { TextContext } from './context';
import { Devices } from './devices';
import { el, setAttr, setText, show } from './dom';
import { EmptyState } from './emptyState';
import type { Host, Span } from './host';
import { LedgerTable } from './ledgerTable';
import { makePicture, type Picture } from './picture';
import { Processes } from './processes';
import { ReadOut } from './readout';
import { Section } from './section';
import { Sessions } from './sessions';
import { fill } from './text';
import { tempo } from './theme';

/** A page that is still empty after this long shows its frame. */
const loadingAfterMs = 300;
/** Up to this number of devices the ledger shows all of them side by side. */
const ledgerColumns = 2;

export class Page {
  private readonly heading = el('h1', { class: 'hidden-text' });
  private readonly devices = new Devices((deviceKey) => this.changeUi({ deviceKey }));
  private readonly simulatedNote = el('p', { class: 'note info small' });
  private readonly readOut = new ReadOut((spanS) => this.changeUi({ spanS }));
  private readonly empty: EmptyState;
  private readonly loading = loadingFrame();
  private readonly sessions: Sessions;
  private readonly ledger = new LedgerTable();
  private readonly processes = new Processes();
  private readonly sessionsSection = this.section('sessions');
  private readonly ledgerSection = this.section('ledger');
  private readonly processesSection = this.section('processes');
  private readonly announcer = new Announcer();
  private readonly chartPane: ChartPane;
  private readonly live: HTMLElement;
  private readonly main = el('main', { class: 'lens' });

  private strings: PanelStrings | null = null;
  private locale = 'en';
  private state: PanelState | null = null;
  private arrivedMs = 0;
  private moment: Moment | null = null;
  private watched = '';
  private structure = '';
  private renderedMs = -Infinity;
  private timer: number | null = null;

  constructor(
    root: HTMLElement,
    private readonly host: Host,
  ) {
    this.empty = new EmptyState(host);
    this.sessions = new Sessions(host);
    this.chartPane = new ChartPane(this.main, this.announcer, (moment) => this.onMoment(moment));
    this.live = el('div', { class: 'live' }, this.readOut.root, this.chartPane.root);
    this.sessionsSection.body.append(this.sessions.root);
    this.ledgerSection.body.append(this.ledger.root);
    this.processesSection.body.append(this.processes.root);
    this.main.append(
      el(
        'div',
        { class: 'page' },
        this.heading,
        el('div', { class: 'top' }, this.devices.root, this.simulatedNote),
        this.loading,
        this.live,
        this.empty.root,
        this.sessionsSection.root,
        this.ledgerSection.root,
        this.processesSection.root,
      ),
      this.announcer.root,
    );
    this.main.classList.add('blank');
    root.replaceChildren(this.main);
    window.setTimeout(() => {
      if (!this.state) this.main.classList.replace('blank', 'busy');
    }, loadingAfterMs);
    document.addEventListener('visibilitychange', () => this.schedule());
  }

  receive(message: ToPanel): void {
    switch (message.type) {
      case 'hydrate':
        this.strings = message.strings;
        this.locale = message.locale;
        document.documentElement.lang = message.locale;
        this.watched = '';
        this.take(message.state);
        this.render();
        break;
      case 'state':
        this.take(message.state);
        this.schedule();
        break;
      case 'history':
        if (this.watched === watchKey(message.deviceKey, message.spanS)) {
          this.chartPane.history.replace(message.columns);
          this.chartPane.wake();
        }
        break;
      case 'append':
        if (this.watched.startsWith(`${message.deviceKey}\n`)) {
          this.chartPane.history.append(message.columns);
          this.chartPane.wake();
        }
        break;
    }
  }

  private take(state: PanelState): void {
    this.state = state;
    this.arrivedMs = performance.now();
  }

  /** Shows what changed in kind at once, mere figures at the page's tempo, nothing while hidden. */
  private schedule(): void {
    if (!this.state || document.hidden) return;
    if (structureOf(this.state) !== this.structure) return this.render();
    this.timer ??= window.setTimeout(
      () => {
        this.timer = null;
        if (!document.hidden) this.render();
      },
      Math.max(0, this.renderedMs + tempo().digitsMs - performance.now()),
    );
  }

  private render(): void {
    if (!this.state || !this.strings) return;
    this.renderedMs = performance.now();
    this.structure = structureOf(this.state);
    const picture = makePicture(this.state, this.host.ui.deviceKey);
    const context: TextContext = { strings: this.strings, locale: this.locale, scale: picture.scale };
    const { strings } = context;
    const { chosen } = picture;
    this.main.classList.remove('blank', 'busy');
    this.main.classList.toggle('busy', picture.empty === 'loading');
    setAttr(this.main, 'aria-label', strings.gpuMemory);
    setText(this.heading, strings.gpuMemory);
    this.devices.update(picture, context);
    show(this.simulatedNote, chosen?.view.simulated ?? false);
    setText(this.simulatedNote, strings.simulatedNote);

    const live = picture.empty === null && chosen !== null;
    show(this.live, live);
    show(this.empty.root, picture.empty !== null && picture.empty !== 'loading');
    this.empty.update(picture, strings);
    if (chosen && live) this.readOut.update(chosen, picture, this.moment, this.host.ui.spanS, context);
    this.renderSections(picture, context);
    this.watch(picture);
    this.chartPane.update(
      chosen && live ? { device: chosen, picture, span: this.host.ui.spanS, context, arrivedMs: this.arrivedMs } : null,
    );
    this.announcer.update(picture, context);
  }

  private renderSections(picture: Picture, context: TextContext): void {
    const { strings, scale } = context;
    const count = (one: string, many: string, n: number) => (n === 1 ? one : fill(many, n));
    const open = (section: Section) => !this.host.ui.collapsed.includes(section.id);

    show(this.sessionsSection.root, picture.sessions.length > 0);
    this.sessions.update(picture, context);
    const sessionCount = count(strings.sessionCountOne, strings.sessionCount, picture.sessions.length);
    this.sessionsSection.update(strings.sessions, sessionCount, scale.unit, open(this.sessionsSection));

    const several = picture.devices.length > ledgerColumns;
    const devices = several && picture.chosen ? [picture.chosen] : picture.devices;
    show(this.ledgerSection.root, devices.length > 0);
    this.ledger.update(devices, context);
    const of = several && picture.chosen ? `${fill(strings.deviceName, picture.chosen.view.index)}, ` : '';
    this.ledgerSection.update(strings.whereItIs, `${of}${scale.unit}`, '', open(this.ledgerSection));

    show(this.processesSection.root, picture.devices.length > 0 && !picture.simulated);
    this.processes.update(picture.processes, picture.devices.length > 1, context);
    const known = picture.devices.some(({ view }) => !view.simulated && view.ledger.others !== null);
    const processCount =
      picture.processes.length > 0
        ? `${count(strings.processCountOne, strings.processCount, picture.processes.length)}, ${scale.unit}`
        : known
          ? strings.none
          : strings.notKnown;
    this.processesSection.update(strings.others, processCount, '', open(this.processesSection));
    show(this.processes.root, picture.processes.length > 0);
  }

  /** Asks for the history of what the page shows, once per choice. */
  private watch(picture: Picture): void {
    const deviceKey = picture.chosen?.view.key;
    if (deviceKey === undefined) return;
    const { spanS } = this.host.ui;
    const key = watchKey(deviceKey, spanS);
    if (key === this.watched) return;
    if (!this.watched.startsWith(`${deviceKey}\n`)) this.chartPane.history.clear();
    this.watched = key;
    this.host.post({ type: 'watch', deviceKey, spanS });
  }

  private onMoment(moment: Moment | null): void {
    if (moment === null && this.moment === null) return;
    this.moment = moment;
    if (!this.state || !this.strings) return;
    const picture = makePicture(this.state, this.host.ui.deviceKey);
    const context: TextContext = { strings: this.strings, locale: this.locale, scale: picture.scale };
    if (picture.chosen) this.readOut.update(picture.chosen, picture, moment, this.host.ui.spanS, context);
  }

  private changeUi(change: { deviceKey?: string; spanS?: Span; collapsed?: string[] }): void {
    this.host.saveUi(change);
    this.render();
  }

  private section(id: string): Section {
    return new Section(id, () => {
      const { collapsed } = this.host.ui;
      this.changeUi({ collapsed: collapsed.includes(id) ? collapsed.filter((c) => c !== id) : [...collapsed, id] });
    });
  }
}

function watchKey(deviceKey: string, spanS: number | null): string {
  return `${deviceKey}\n${spanS}`;
}

/** What makes the page another page, as against other figures on the same one. */
function structureOf(state: PanelState): string {
  return JSON.stringify([
    state.devices.map((d) => d.key),
    state.sessions.map((s) => [s.key, s.state, s.freeing, s.freed?.timeMs, s.silentSinceMs !== null]),
    state.processes.map((p) => p.pid),
    state.driver,
  ]);
}

/** The frame of a device without figures; words come with the first message. */
function loadingFrame(): HTMLElement {
  return el(
    'div',
    { class: 'loading', attrs: { 'aria-busy': 'true', 'aria-hidden': 'true' } },
    el('div', { class: 'headline' }, '–'),
    el('div', { class: 'bar device-bar' }),
    el('div', { class: 'loading-values' }, el('span', {}, '–'), el('span', {}, '–'), el('span', {}, '–')),
  );
}
