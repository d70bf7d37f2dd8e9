/** Who else is on the devices. */
import { figure, type TextContext } from './context';
import { el, Keyed, setAttr, setText } from './dom';
import type { ProcessPicture } from './picture';
import { fill } from './text';

interface RowInput {
  process: ProcessPicture;
  several: boolean;
  context: TextContext;
}

export class Processes {
  private readonly caption = el('caption', { class: 'hidden-text' });
  private readonly heads = ['', '', '', '', ''].map((_, i) =>
    el('th', { class: i > 1 ? 'figure' : '', attrs: { scope: 'col' } }),
  );
  private readonly body = el('tbody');
  readonly root = el(
    'table',
    { class: 'processes' },
    this.caption,
    el('thead', {}, el('tr', {}, ...this.heads)),
    this.body,
  );
  private readonly rows = new Keyed<RowInput, ProcessRow>(
    this.body,
    ({ process }) => `${process.view.deviceKey} ${process.view.pid}`,
    () => new ProcessRow(),
  );

  update(processes: readonly ProcessPicture[], several: boolean, context: TextContext): void {
    const { strings, scale } = context;
    setText(this.caption, fill(strings.processesCaption, scale.unit));
    const names = [strings.name, strings.user, strings.gpuHeader, strings.pidHeader, strings.memory];
    this.heads.forEach((head, i) => setText(head, names[i] ?? ''));
    this.root.classList.toggle('several', several);
    this.rows.update(processes.map((process) => ({ process, several, context })));
  }
}

class ProcessRow {
  private readonly name = el('span', { class: 'cut' });
  private readonly narrowUser = el('span', { class: 'quiet small not-wide' });
  private readonly user = el('td', { class: 'quiet wide' });
  private readonly gpu = el('td', { class: 'quiet figure process-gpu' });
  private readonly pidWord = el('span', { class: 'quiet not-narrow not-wide' });
  private readonly pid = el('span');
  private readonly memory = el('td', { class: 'figure' });
  readonly root = el(
    'tr',
    {},
    el('td', { class: 'process-name' }, el('span', { class: 'process-title' }, this.name, this.narrowUser)),
    this.user,
    this.gpu,
    el('td', { class: 'figure quiet process-pid' }, this.pidWord, this.pid),
    this.memory,
  );

  update({ process, context }: RowInput): void {
    const { view, device } = process;
    const { strings, scale } = context;
    setText(this.name, view.name ?? strings.unnamedProcess);
    setAttr(this.name, 'title', view.name);
    setText(this.narrowUser, view.user ?? '');
    setText(this.user, view.user ?? '–');
    setText(this.gpu, device === null ? '–' : fill(strings.deviceName, device.index));
    setText(this.pidWord, fill(strings.pid, '').trimEnd() + ' ');
    setText(this.pid, String(view.pid));
    setText(this.memory, figure(process.memory, scale));
    setAttr(this.memory, 'title', process.memory === null ? strings.processNotKnown : null);
  }
}
