/** Small helpers to build the page once and then only change what differs. */

interface Props {
  class?: string;
  title?: string;
  /** Any further attribute; `style` is not possible under the page's CSP. */
  attrs?: Record<string, string>;
  onClick?: () => void;
}

/** Creates an element with its children; strings become text. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (props.class !== undefined) element.className = props.class;
  if (props.title !== undefined) element.title = props.title;
  for (const [name, value] of Object.entries(props.attrs ?? {})) element.setAttribute(name, value);
  if (props.onClick) element.addEventListener('click', props.onClick);
  if (tag === 'button') element.setAttribute('type', 'button');
  element.append(...children);
  return element;
}

/** Sets the text when it differs, so that a selection or a screen reader's place survives. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets or removes an attribute when it differs. */
export function setAttr(element: Element, name: string, value: string | null): void {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Shows or hides an element. */
export function show(element: HTMLElement, visible: boolean): void {
  if (element.hidden === visible) element.hidden = !visible;
}

/** Makes `parent`'s children exactly `children`, moving only what is out of place. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  children.forEach((child, i) => {
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null);
  });
  while (parent.children.length > children.length) parent.lastElementChild?.remove();
}

/** One element per key, made on first sight and kept while its key is there. */
export class Keyed<Item, Row extends { root: HTMLElement; update(item: Item): void }> {
  private readonly rows = new Map<string, Row>();

  constructor(
    private readonly parent: Element,
    private readonly keyOf: (item: Item) => string,
    private readonly create: (item: Item) => Row,
  ) {}

  update(items: readonly Item[]): void {
    const keys = new Set(items.map(this.keyOf));
    for (const key of this.rows.keys()) if (!keys.has(key)) this.rows.delete(key);
    const roots = items.map((item) => {
      const key = this.keyOf(item);
      const row = this.rows.get(key) ?? this.create(item);
      this.rows.set(key, row);
      row.update(item);
      return row.root;
    });
    setChildren(this.parent, roots);
  }
}
