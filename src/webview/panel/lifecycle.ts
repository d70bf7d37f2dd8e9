/** A session's state: glyph and word, and the strip of its life cycle. */
import { lifecycleStates, type LifecycleState } from '../../shared/agentProtocol';
import type { PanelStrings } from '../../shared/panelStrings';
import { el, setAttr, setText } from './dom';
import { setIcon, type IconName } from './icons';
import { fill } from './text';

const glyphs: Record<LifecycleState, [IconName, string]> = {
  started: ['loading', 'quiet'],
  modelOnGpu: ['loading', 'quiet'],
  dataOnGpu: ['loading', 'quiet'],
  training: ['play', 'ok'],
  idle: ['pause', 'warn'],
  cleared: ['pass', 'quiet'],
  freed: ['pass', 'quiet'],
  ended: ['stop', 'quiet'],
};

/** The state's word; while the agent is silent, for how long. */
export function stateWord(state: LifecycleState, silentS: number | null, strings: PanelStrings): string {
  return silentS === null || state === 'ended' ? strings[state] : fill(strings.noAnswerFor, silentS);
}

/** Glyph and word of the state. */
export class StateChip {
  private readonly glyph = el('span', { class: 'glyph' });
  private readonly word = el('span');
  readonly root = el('span', { class: 'chip' }, this.glyph, this.word);

  update(state: LifecycleState, silentS: number | null, strings: PanelStrings): void {
    const [name, kind] = silentS === null || state === 'ended' ? glyphs[state] : (['warning', 'warn'] as const);
    setIcon(this.glyph, name, kind);
    setText(this.word, stateWord(state, silentS, strings));
  }
}

/** Eight segments: past, current, to come; with their names on the wide page. */
export class LifeStrip {
  private readonly items = lifecycleStates.map(() => el('li', {}, el('span')));
  readonly root = el('ol', { class: 'life' }, ...this.items);

  update(state: LifecycleState, strings: PanelStrings): void {
    const current = lifecycleStates.indexOf(state);
    setAttr(this.root, 'aria-label', fill(strings.lifecycle, strings[state]));
    this.root.classList.toggle('holding', state === 'idle');
    this.items.forEach((item, i) => {
      const name = lifecycleStates[i];
      if (name === undefined) return;
      item.className = i < current ? 'past' : i === current ? 'current' : '';
      setAttr(item, 'aria-current', i === current ? 'step' : null);
      setAttr(item, 'title', strings[name]);
      if (item.firstElementChild) setText(item.firstElementChild, strings[name]);
    });
  }
}
