/** The page's glyphs, drawn here on a 16 px grid as outlines; `fill:` parts are solid. */
const shapes = {
  warning: ['M8 2 14.5 13.5h-13z', 'M8 6.5v3', 'fill:M7.3 11h1.4v1.4H7.3z'],
  error: ['M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z', 'M6 6l4 4', 'M10 6l-4 4'],
  info: ['M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z', 'M8 7.5V11', 'fill:M7.3 4.6h1.4V6H7.3z'],
  pass: ['M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z', 'M5.2 8.3 7.2 10.2 10.8 6'],
  play: ['fill:M4 2.5v11L13 8z'],
  playOutline: ['M4.5 3v10L12.5 8z'],
  pause: ['fill:M4 3h2.5v10H4z', 'fill:M9.5 3H12v10H9.5z'],
  loading: ['M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z', 'fill:M10 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0z'],
  stop: ['fill:M4 4h8v8H4z'],
  close: ['M4 4l8 8', 'M12 4l-8 8'],
  chevronDown: ['M4 6l4 4 4-4'],
  chevronRight: ['M6 4l4 4-4 4'],
  steady: ['M2 8h11.5', 'M10.5 5l3 3-3 3'],
} as const;
export type IconName = keyof typeof shapes;

const svg = 'http://www.w3.org/2000/svg';

/** A glyph in the text's colour; hidden from screen readers, a word always stands beside it. */
export function icon(name: IconName, className = ''): SVGSVGElement {
  const root = document.createElementNS(svg, 'svg');
  root.setAttribute('class', `icon ${className}`.trim());
  root.setAttribute('viewBox', '0 0 16 16');
  root.setAttribute('aria-hidden', 'true');
  root.dataset['icon'] = name;
  for (const shape of shapes[name]) {
    const path = document.createElementNS(svg, 'path');
    const solid = shape.startsWith('fill:');
    path.setAttribute('d', solid ? shape.slice(5) : shape);
    if (solid) path.setAttribute('class', 'solid');
    root.append(path);
  }
  return root;
}

/** Replaces the glyph in `holder` when it is another one. */
export function setIcon(holder: Element, name: IconName, className = ''): void {
  const current = holder.firstElementChild;
  if (current instanceof SVGSVGElement && current.dataset['icon'] === name) {
    current.setAttribute('class', `icon ${className}`.trim());
    return;
  }
  holder.replaceChildren(icon(name, className));
}
