/** The sessions: whose memory it is, and the action. One element per session serves narrow and wide pages. */
import { formatCount, formatRate } from '../../shared/units';
import { figure, sizeText, type TextContext } from './context';
import { el, Keyed, setAttr, setText, show } from './dom';
import { FreedNote } from './freedNote';
import type { Host } from './host';
import { LifeStrip, StateChip, stateWord } from './lifecycle';
import type { Picture, SessionPicture } from './picture';
import { fill } from './text';

interface RowInput {
  session: SessionPicture;
  /** Bytes of the session's devices together: the scale of before/after bars. */
  totalBytes: number;
  context: TextContext;
}

export class Sessions {
  private readonly head = el('div', { class: 'session-head', attrs: { 'aria-hidden': 'true' } });
  private readonly list = el('div', { class: 'session-list' });
  private readonly rows: Keyed<RowInput, SessionRow>;
  readonly root = el('div', { class: 'sessions' }, this.head, this.list);

  constructor(host: Host) {
    this.rows = new Keyed(
      this.list,
      ({ session }) => session.view.key,
      ({ session }) => new SessionRow(host, session.view.key),
    );
  }

  update(picture: Picture, context: TextContext): void {
    const { strings } = context;
    const names = [strings.name, strings.state, strings.step, strings.stepsPerSecondShort];
    const figures = [strings.used, strings.cached, strings.outsideShort];
    const heads = [...names, ...figures].map((name) => el('span', {}, name));
    if (this.head.textContent !== heads.map((head) => head.textContent).join('')) this.head.replaceChildren(...heads);
    this.rows.update(
      picture.sessions.map((session) => ({
        session,
        totalBytes: picture.devices
          .filter((d) => session.view.deviceKeys.includes(d.view.key))
          .reduce((sum, d) => sum + d.view.ledger.totalBytes, 0),
        context,
      })),
    );
  }
}

class SessionRow {
  private readonly name: HTMLButtonElement;
  private readonly plainName = el('span', { class: 'strong cut' });
  private readonly rank = el('span', { class: 'quiet small cut session-rank' });
  private readonly pid = el('span', { class: 'quiet wide' });
  private readonly chip = new StateChip();
  private readonly life = new LifeStrip();
  private readonly facts = el('span', { class: 'cut' });
  private readonly rate = el('span', { class: 'not-narrow' });
  private readonly figures = ['', '', '', '', ''].map(() => el('span', { class: 'session-figure wide' }));
  private readonly note: FreedNote;
  private readonly free: HTMLButtonElement;
  private readonly returns = el('span', { class: 'small quiet returns' });
  private readonly actions: HTMLElement;
  readonly root: HTMLElement;

  constructor(host: Host, key: string) {
    this.name = el('button', {
      class: 'session-script strong cut',
      onClick: () => host.post({ type: 'openScript', sessionKey: key }),
    });
    this.note = new FreedNote(() => {
      host.post({ type: 'dismissFreed', sessionKey: key });
      this.free.focus();
    });
    this.free = el('button', {
      class: 'button',
      onClick: () => {
        if (this.free.getAttribute('aria-disabled') !== 'true') host.post({ type: 'freeCache', sessionKey: key });
      },
    });
    this.actions = el('div', { class: 'session-actions' }, this.free, this.returns);
    this.root = el(
      'article',
      { class: 'session' },
      el('div', { class: 'session-name' }, this.name, this.plainName, this.rank, this.pid),
      this.chip.root,
      ...this.figures,
      this.life.root,
      el('div', { class: 'session-facts quiet' }, this.facts, this.rate),
      this.note.root,
      this.actions,
    );
  }

  update({ session, totalBytes, context }: RowInput): void {
    const { view, shown, silentS } = session;
    const { strings, locale, scale } = context;
    const step = formatCount(view.step, locale);
    const rank = view.rank === null || view.worldSize === null ? '' : fill(strings.rank, view.rank, view.worldSize);
    setText(this.name, view.name);
    setText(this.plainName, view.name);
    show(this.name, view.scriptPath !== null);
    show(this.plainName, view.scriptPath === null);
    setAttr(this.name, 'title', view.scriptPath);
    setAttr(this.name, 'aria-label', fill(strings.goToScript, view.name));
    setText(this.pid, [fill(strings.pid, view.pid), rank].filter((part) => part !== '').join(' · '));
    setAttr(
      this.root,
      'aria-label',
      fill(strings.sessionLabel, view.name, view.pid, stateWord(view.state, silentS, strings), step),
    );
    this.chip.update(view.state, silentS, strings);
    this.life.update(view.state, strings);
    setText(this.rank, rank);
    setText(this.facts, `${fill(strings.pid, view.pid)} · ${fill(strings.stepValue, step)}`);
    const rate = view.stepsPerSecond === null ? '–' : formatRate(view.stepsPerSecond);
    setText(this.rate, view.stepsPerSecond === null ? '' : ` · ${fill(strings.rate, rate)}`);
    const values = [step, rate, figure(shown.used, scale), figure(shown.cached, scale), figure(session.outside, scale)];
    const names = [strings.step, strings.stepsPerSecondShort, strings.used, strings.cached, strings.outsideShort];
    this.figures.forEach((cell, i) => {
      setText(cell, values[i] ?? '');
      setAttr(cell, 'title', values[i] === '–' ? strings.noFigureYet : (names[i] ?? null));
    });
    this.root.classList.toggle('silent', silentS !== null);
    this.note.update(view, totalBytes, context);
    this.updateAction(session, context);
  }

  /** The button says what it will bring before it is pressed. */
  private updateAction({ view }: SessionPicture, { strings, scale }: TextContext): void {
    const waiting = view.state === 'training' ? strings.atStepEnd : strings.freeingNow;
    setText(this.free, view.freeing ? waiting : strings.freeGpuCache);
    setAttr(this.free, 'aria-disabled', view.freeing ? 'true' : null);
    const returns =
      view.releasableBytes > 0 ? fill(strings.returns, sizeText(view.releasableBytes, scale)) : strings.nothingLeft;
    setText(this.returns, view.freeing ? '' : returns);
    show(this.actions, view.state !== 'ended');
  }
}
