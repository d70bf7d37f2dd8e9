/** The devices: name, free memory as the one large number, the bar, one line of verdict. */
import { showHeadline } from '../../shared/units';
import { DeviceBar } from './bar';
import { figure, type TextContext } from './context';
import { el, Keyed, setAttr, setText, show } from './dom';
import { setIcon, type IconName } from './icons';
import type { DevicePicture, Picture } from './picture';
import { arrowKeysChoose, markChosen } from './radios';
import { fill, modelName } from './text';

/** From this number of devices on, rows of the sidebar drop the verdict. */
const compactFrom = 5;

interface RowInput {
  device: DevicePicture;
  picture: Picture;
  context: TextContext;
}

export class Devices {
  readonly root = el('div', { class: 'devices' });
  private readonly rows = new Keyed<RowInput, DeviceRow>(
    this.root,
    ({ device }) => device.view.key,
    () => new DeviceRow(),
  );

  constructor(choose: (deviceKey: string) => void) {
    const chooseRow = (row: HTMLElement) => choose(row.dataset['key'] ?? '');
    this.root.addEventListener('click', (event) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[role=radio]') : null;
      if (row) chooseRow(row);
    });
    arrowKeysChoose(this.root, { back: ['ArrowUp', 'ArrowLeft'], on: ['ArrowDown', 'ArrowRight'] }, chooseRow);
  }

  update(picture: Picture, context: TextContext): void {
    const many = picture.devices.length > 1;
    this.root.classList.toggle('many', many);
    this.root.classList.toggle('compact', picture.devices.length >= compactFrom);
    setAttr(this.root, 'role', many ? 'radiogroup' : null);
    setAttr(this.root, 'aria-label', many ? context.strings.devicesGroup : null);
    this.rows.update(picture.devices.map((device) => ({ device, picture, context })));
    const roots = [...this.root.children].filter((row) => row instanceof HTMLElement);
    for (const row of roots) setAttr(row, 'role', many ? 'radio' : null);
    if (many) markChosen(roots, roots.find((row) => row.dataset['key'] === picture.chosen?.view.key) ?? null);
  }
}

class DeviceRow {
  private readonly title = el('span', { class: 'strong' });
  private readonly model = el('span', { class: 'quiet cut' });
  private readonly tag = el('span', { class: 'tag' });
  private readonly free = el('span', { class: 'headline' });
  private readonly ofTotal = el('span', { class: 'quiet of-total' });
  private readonly freeWord = el('span', { class: 'quiet free-word' });
  private readonly bar = new DeviceBar();
  private readonly captions = new Captions();
  private readonly verdictIcon = el('span', { class: 'glyph' });
  private readonly verdictText = el('span', { class: 'cut' });
  private readonly verdict = el('div', { class: 'verdict' }, this.verdictIcon, this.verdictText);
  readonly root = el(
    'div',
    { class: 'device' },
    el('div', { class: 'device-name' }, this.title, this.model),
    el('div', { class: 'device-tag' }, this.tag),
    el('div', { class: 'device-free' }, this.free, this.ofTotal, this.freeWord),
    this.bar.root,
    this.captions.root,
    this.verdict,
  );

  update({ device, picture, context }: RowInput): void {
    const { view, shown } = device;
    const { strings, scale } = context;
    this.root.dataset['key'] = view.key;
    const name = fill(strings.deviceName, view.index);
    setText(this.title, name);
    setText(this.model, modelName(view.name));
    setAttr(this.model, 'title', view.name);
    setText(this.tag, strings.simulated);
    show(this.tag, view.simulated);
    setText(this.free, shown.free === null ? '–' : `${showHeadline(shown.free, scale)} ${scale.unit}`);
    setAttr(this.free, 'title', shown.free === null ? strings.noDriverView : null);
    setText(this.ofTotal, fill(strings.freeOf, showHeadline(shown.total, scale)));
    setText(this.freeWord, strings.freeWord);
    this.bar.update(name, shown, scale, view.simulated, strings);
    this.captions.update(device, context);
    this.updateVerdict(device, picture, context);
  }

  /** One line, whose height stays when there is nothing to say. */
  private updateVerdict(device: DevicePicture, picture: Picture, { strings }: TextContext): void {
    let [glyph, text, kind]: [IconName | null, string, string] = [null, '', 'quiet'];
    if (picture.driverSilent && !device.view.simulated) {
      [glyph, text, kind] = ['warning', strings.verdictNotAnswering, 'warn'];
    } else if (device.sessions.length === 0) {
      [glyph, text] = ['steady', strings.verdictNoSession];
    }
    if (glyph) setIcon(this.verdictIcon, glyph, kind);
    else this.verdictIcon.replaceChildren();
    this.verdict.className = `verdict ${kind}`;
    setText(this.verdictText, text);
  }
}

/** The line under the bar of the wide page. */
class Captions {
  private readonly used = new Caption('used');
  private readonly cached = new Caption('releasable');
  private readonly free = new Caption('free');
  private readonly unavailable = new Caption(null);
  readonly root = el(
    'div',
    { class: 'captions', attrs: { 'aria-hidden': 'true' } },
    this.used.root,
    this.cached.root,
    this.free.root,
    this.unavailable.root,
  );

  update({ shown }: DevicePicture, { strings, scale }: TextContext): void {
    this.used.update(strings.used, figure(shown.used, scale));
    this.cached.update(strings.cached, figure(shown.cached, scale));
    this.free.update(strings.free, figure(shown.free, scale));
    this.unavailable.update(strings.notAvailable, figure(shown.unavailable, scale));
  }
}

class Caption {
  private readonly name = el('span');
  private readonly value = el('span', { class: 'caption-value' });
  readonly root: HTMLElement;

  constructor(fillName: string | null) {
    const swatch = fillName === null ? [] : [el('i', { class: `swatch p-${fillName}` })];
    this.root = el('span', { class: fillName === null ? 'caption last' : 'caption' }, ...swatch, this.name, this.value);
  }

  update(name: string, value: string): void {
    setText(this.name, name);
    setText(this.value, value);
  }
}
