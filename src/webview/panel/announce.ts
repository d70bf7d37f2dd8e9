/** What a screen reader hears without being asked: changes of state, never mere numbers. */
import type { TextContext } from './context';
import { el } from './dom';
import { freedRest, freedTitle } from './freedNote';
import type { Picture } from './picture';
import { fill } from './text';

/** At most one spoken text per this time, the newest wins. */
const paceMs = 1000;

export class Announcer {
  readonly root = el('div', { class: 'hidden-text', attrs: { role: 'status', 'aria-live': 'polite' } });
  private known: Map<string, { name: string; state: string; freedMs: number | null }> | null = null;
  private timer: number | null = null;
  private waiting: string | null = null;

  /** Compares with the picture before and says what is new; the first picture is silent. */
  update(picture: Picture, context: TextContext): void {
    const { strings } = context;
    const now = new Map(
      picture.sessions.map(({ view, silentS }) => [
        view.key,
        {
          name: view.name,
          state: silentS === null ? strings[view.state] : strings.spokenNoAnswer,
          freedMs: view.freed?.timeMs ?? null,
        },
      ]),
    );
    const before = this.known;
    this.known = now;
    if (!before) return;
    const said: string[] = [];
    for (const { view } of picture.sessions) {
      const old = before.get(view.key);
      const current = now.get(view.key);
      if (!old || !current) said.push(fill(strings.spokenSessionStarted, view.name));
      else {
        if (view.freed && old.freedMs !== current.freedMs) {
          said.push(`${freedTitle(view.freed.result, context)} ${freedRest(view.freed.result, context)}`);
        }
        if (old.state !== current.state) {
          said.push(
            view.state === 'ended'
              ? fill(strings.spokenSessionEnded, view.name)
              : fill(strings.spokenState, view.name, current.state),
          );
        }
      }
    }
    for (const [key, { name }] of before) if (!now.has(key)) said.push(fill(strings.spokenSessionEnded, name));
    if (said.length > 0) this.say(said.join(' '));
  }

  say(text: string): void {
    if (this.timer !== null) {
      this.waiting = text;
      return;
    }
    this.root.textContent = text;
    this.timer = window.setTimeout(() => {
      this.timer = null;
      const next = this.waiting;
      this.waiting = null;
      if (next !== null) this.say(next);
    }, paceMs);
  }
}
