/** The theme's colours for the canvas, and the page's tempo; CSS has its own (style.css), from the same names. */

/** Names of custom properties of style.css that the chart draws with. */
const colourNames = {
  background: '--bg',
  text: '--fg',
  quiet: '--fg2',
  grid: '--grid',
  own: '--own',
  used: '--c-chart-used',
  cached: '--c-cached',
} as const;

export interface ChartTheme extends Record<keyof typeof colourNames, string> {
  font: string;
  releasable: CanvasPattern | string;
  unavailable: CanvasPattern | string;
  pixelRatio: number;
}

/** Reads the colours as they are now; a probe element resolves `var()` and `color-mix()`. */
export function readChartTheme(page: HTMLElement): ChartTheme {
  const probe = document.createElement('span');
  page.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = Object.fromEntries(Object.entries(colourNames).map(([key, name]) => [key, colour(name)])) as Record<
    keyof typeof colourNames,
    string
  >;
  const family = getComputedStyle(page).fontFamily;
  probe.remove();
  const pixelRatio = window.devicePixelRatio;
  return {
    ...colours,
    pixelRatio,
    font: `${11 * pixelRatio}px ${family}`,
    releasable: diagonals(5, colours.own, 0.75, colours.cached, 1, pixelRatio),
    unavailable: diagonals(6, colours.text, 0.34, null, -1, pixelRatio),
  };
}

/** A tile of diagonals, rising (1) or falling (-1), `gap` CSS pixels apart. */
function diagonals(
  gap: number,
  line: string,
  opacity: number,
  ground: string | null,
  direction: 1 | -1,
  pixelRatio: number,
): CanvasPattern | string {
  const size = Math.round(gap * 1.414 * pixelRatio);
  const tile = document.createElement('canvas');
  tile.width = size;
  tile.height = size;
  const context = tile.getContext('2d');
  if (!context) return ground ?? line;
  if (ground !== null) {
    context.fillStyle = ground;
    context.fillRect(0, 0, size, size);
  }
  context.globalAlpha = opacity;
  context.strokeStyle = line;
  context.lineWidth = pixelRatio;
  context.beginPath();
  // Three lines, so that the corners of neighbouring tiles meet.
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift, direction === 1 ? size : 0);
    context.lineTo(shift + size, direction === 1 ? 0 : size);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? ground ?? line;
}

/** Calls back when theme, contrast or pixel ratio change. */
export function onThemeChange(changed: () => void): void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'class'] });
  observer.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  window.matchMedia('(forced-colors: active)').addEventListener('change', changed);
  const watchScale = () => {
    window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`).addEventListener(
      'change',
      () => {
        changed();
        watchScale();
      },
      { once: true },
    );
  };
  watchScale();
}

/** Milliseconds between two changes of the digits, and of the sliding chart (design/panel.md section 6). */
export function tempo(): { digitsMs: number; slideMs: number | null } {
  const classes = document.body.classList;
  if (classes.contains('vscode-using-screen-reader')) return { digitsMs: 5000, slideMs: null };
  const calm =
    classes.contains('vscode-reduce-motion') || window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  return { digitsMs: 500, slideMs: calm ? 1000 : 100 };
}
