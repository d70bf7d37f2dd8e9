/** The answer to Free GPU Cache: what came back, what still holds the rest, or why nothing did. */
import type { FreeCacheResult } from '../../shared/agentProtocol';
import type { PanelStrings } from '../../shared/panelStrings';
import type { SessionView } from '../../shared/panelProtocol';
import { Bar } from './bar';
import { sizeText, type TextContext } from './context';
import { el, setAttr, show } from './dom';
import { icon } from './icons';
import { fill } from './text';

type Done = Extract<FreeCacheResult, { done: true }>;

/** Sums over the session's devices. */
export interface FreedSums {
  returnedBytes: number;
  beforeBytes: number;
  afterBytes: number;
  strandedBytes: number;
  usedBytes: number;
}

export function freedSums(result: Done): FreedSums {
  const sum = (pick: (device: Done['devices'][number]) => number) =>
    result.devices.reduce((total, device) => total + pick(device), 0);
  return {
    returnedBytes: sum((d) => d.returnedBytes),
    beforeBytes: sum((d) => d.reservedBeforeBytes),
    afterBytes: sum((d) => d.reservedAfterBytes),
    strandedBytes: sum((d) => d.strandedBytes),
    usedBytes: sum((d) => d.usedBytes),
  };
}

/** The headline of the note, also for the live region. */
export function freedTitle(result: FreeCacheResult, { strings, scale }: TextContext): string {
  if (!result.done) return strings.notFreed;
  const { returnedBytes } = freedSums(result);
  return returnedBytes > 0 ? fill(strings.returned, sizeText(returnedBytes, scale)) : strings.nothingToReturn;
}

/** What still holds the rest, or why nothing was returned. */
export function freedRest(result: FreeCacheResult, { strings, scale }: TextContext): string {
  if (!result.done) return failureText(result, strings);
  const { strandedBytes, usedBytes } = freedSums(result);
  return fill(strings.stillHeld, sizeText(strandedBytes, scale), sizeText(usedBytes, scale));
}

function failureText(result: Extract<FreeCacheResult, { done: false }>, strings: PanelStrings): string {
  switch (result.reason) {
    case 'capture':
      return strings.whyCapture;
    case 'memPool':
      return strings.whyMemPool;
    case 'notTorch':
      return strings.whyNotTorch;
    case 'noAnswer':
      return strings.whyNoAnswer;
    case 'failed':
      return fill(strings.whyFailed, result.message);
  }
}

export class FreedNote {
  private readonly content = el('div');
  private readonly dismiss: HTMLButtonElement;
  readonly root: HTMLElement;
  private shownFor: SessionView['freed'] = null;

  constructor(onDismiss: () => void) {
    this.dismiss = el('button', { class: 'icon-button dismiss', onClick: onDismiss }, icon('close'));
    this.root = el('div', { class: 'note' }, this.content, this.dismiss);
    this.root.hidden = true;
  }

  update(session: SessionView, totalBytes: number, context: TextContext): void {
    const { strings } = context;
    const { freed } = session;
    show(this.root, freed !== null);
    if (freed === null || this.shownFor?.timeMs === freed.timeMs) return;
    this.shownFor = freed;
    const { result } = freed;
    const returned = result.done && freedSums(result).returnedBytes > 0;
    this.root.className = `note fade ${result.done ? (returned ? 'good' : 'neutral') : 'bad'}`;
    setAttr(this.dismiss, 'aria-label', strings.dismiss);
    setAttr(this.dismiss, 'title', strings.dismiss);
    this.content.replaceChildren(
      el('p', { class: 'note-text' }, el('b', {}, freedTitle(result, context)), ' ', freedRest(result, context)),
      ...(result.done && returned ? this.details(session, result, totalBytes, context) : []),
      ...(result.done && !result.collected ? [el('p', { class: 'small quiet' }, strings.notCollected)] : []),
    );
  }

  /** Reserved before and after, as figures and as two bars on the scale of the card. */
  private details(session: SessionView, result: Done, totalBytes: number, context: TextContext): HTMLElement[] {
    const { strings, scale } = context;
    const sums = freedSums(result);
    const bar = (returnedBytes: number) => {
      const bar = new Bar('small-bar');
      const held = sums.usedBytes + sums.strandedBytes + returnedBytes;
      bar.update([
        { fill: 'used', size: sums.usedBytes },
        { fill: 'stranded', size: sums.strandedBytes },
        { fill: 'releasable', size: returnedBytes },
        { fill: 'unknown', size: Math.max(0, totalBytes - held) },
      ]);
      return bar.root;
    };
    return [
      el(
        'p',
        { class: 'small' },
        fill(strings.reservedWent, sizeText(sums.beforeBytes, scale), sizeText(sums.afterBytes, scale)),
      ),
      el(
        'div',
        { class: 'before-after small', attrs: { 'aria-hidden': 'true' } },
        el('span', { class: 'quiet' }, strings.before),
        bar(sums.returnedBytes),
        el('span', { class: 'quiet' }, strings.after),
        bar(0),
      ),
      el('p', { class: 'small quiet' }, fill(strings.othersCanUse, session.name)),
    ];
  }
}
