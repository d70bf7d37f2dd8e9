/** The built page in Chromium as a webview shows it: strict CSP, theme variables, a stand-in for the editor. */
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { FromPanel, PanelState, ToPanel } from '../../src/shared/panelProtocol';
import { panelStrings, type PanelStrings } from '../../src/shared/panelStrings';
import { tenMinutes } from './states';
import { themes, type ThemeName } from './themes';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const outFolder = path.join(root, 'out/panel');
const origin = 'https://panel.test';
const nonce = 'bm9uY2U';

/** The policy the extension's HTML carries; `origin` stands for the webview's resource source. */
const policy = [
  "default-src 'none'",
  `style-src ${origin}`,
  `font-src ${origin}`,
  `img-src ${origin} data:`,
  `script-src 'nonce-${nonce}'`,
].join('; ');

const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>GPU Memory</title>
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${origin}/style.css"></head>
<body><div id="app"></div><script nonce="${nonce}" src="${origin}/panel.js"></script></body></html>`;

export async function launchBrowser(): Promise<Browser> {
  const flags = '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking';
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [...flags.split(' '), '--disable-component-update', '--disable-sync'],
  });
}

/** What the stand-in for the editor keeps in the page, for the tests to read. */
interface Stub {
  posted: FromPanel[];
  violations: string[];
  saved: unknown;
}

export interface Options {
  theme?: ThemeName;
  width?: number;
  bodyClass?: string;
  saved?: unknown;
}

/** One open page; what it posts is recorded, and every `watch` is answered with ten minutes of history. */
export class PanelPage {
  readonly errors: string[] = [];

  private constructor(readonly page: Page) {
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
  }

  static async open(browser: Browser, options: Options = {}): Promise<PanelPage> {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 280, height: 900 },
      deviceScaleFactor: 2,
      timezoneId: 'UTC',
    });
    const page = await context.newPage();
    const panel = new PanelPage(page);
    await page.route(`${origin}/**`, async (route) => {
      const name = new URL(route.request().url()).pathname.slice(1);
      if (name === '') return route.fulfill({ contentType: 'text/html', body: html });
      const body = await readFile(path.join(root, 'dist/webview', name));
      return route.fulfill({ contentType: name.endsWith('.css') ? 'text/css' : 'text/javascript', body });
    });
    await page.addInitScript((saved: unknown) => {
      const stub: Stub = { posted: [], violations: [], saved };
      Object.assign(window, {
        stub,
        acquireVsCodeApi: () => ({
          postMessage: (message: FromPanel) => void stub.posted.push(message),
          getState: () => stub.saved,
          setState: (state: unknown) => void (stub.saved = state),
        }),
      });
      document.addEventListener('securitypolicyviolation', (event) => {
        stub.violations.push(`${event.violatedDirective} ${event.sourceFile ?? ''}`);
      });
    }, options.saved ?? null);
    await page.goto(origin);
    await panel.setTheme(options.theme ?? 'dark', options.bodyClass);
    return panel;
  }

  async setTheme(name: ThemeName, bodyClass = ''): Promise<void> {
    const { variables, bodyClass: themeClass } = themes[name];
    await this.page.evaluate(
      ({ variables, className }) => {
        document.documentElement.removeAttribute('style');
        for (const [key, value] of Object.entries(variables)) document.documentElement.style.setProperty(key, value);
        document.body.className = className;
      },
      { variables, className: `${themeClass} ${bodyClass}`.trim() },
    );
  }

  /** Sends a message with plain data as the editor does. */
  async send(message: Exclude<ToPanel, { type: 'history' | 'append' }>): Promise<void> {
    await this.page.evaluate((data) => window.postMessage(data), message);
  }

  async hydrate(state: PanelState, strings: PanelStrings = panelStrings, locale = 'en'): Promise<void> {
    await this.send({ type: 'hydrate', locale, strings, state });
    await this.page.waitForFunction(() => !document.querySelector('.lens.blank'));
  }

  async sendColumns(
    type: 'history' | 'append',
    deviceKey: string,
    columns: ReturnType<typeof tenMinutes>,
    spanS: number | null = 600,
  ): Promise<void> {
    await this.page.evaluate(
      ({ type, deviceKey, columns, spanS }) => {
        const arrays = Object.fromEntries(Object.entries(columns).map(([k, v]) => [k, Float64Array.from(v)]));
        window.postMessage({ type, deviceKey, spanS, columns: arrays });
      },
      { type, deviceKey, columns, spanS },
    );
  }

  /** A whole state with its history, drawn. */
  async showState(state: PanelState, strings?: PanelStrings, locale?: string): Promise<void> {
    await this.hydrate(state, strings, locale);
    const key = state.devices[0]?.key;
    if (key === undefined || state.sessions.length === 0) return;
    await this.sendColumns('history', key, tenMinutes(state));
    await this.page.waitForSelector('.chart canvas');
    await this.waitForChart();
  }

  /**
   * Waits until used memory is drawn: somewhere near the lower right a pixel has the areas' colour. A strip, not one
   * pixel: the axis ends at the present, and what was sent moves away from it while a busy machine takes its time.
   */
  async waitForChart(): Promise<void> {
    await this.page.waitForFunction(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.chart canvas');
      const context = canvas?.getContext('2d');
      if (!canvas || !context) return false;
      const ratio = window.devicePixelRatio;
      const strip = Math.round(canvas.width / 2);
      const { data } = context.getImageData(canvas.width - strip, canvas.height - 26 * ratio, strip, 1);
      for (let at = 0; at < data.length; at += 4) {
        const [r = 0, , b = 0, alpha = 0] = data.subarray(at, at + 4);
        if (alpha > 0 && b > r + 30) return true;
      }
      return false;
    });
  }

  async posted(): Promise<FromPanel[]> {
    return this.page.evaluate(() => (window as unknown as { stub: Stub }).stub.posted);
  }

  async saved(): Promise<unknown> {
    return this.page.evaluate(() => (window as unknown as { stub: Stub }).stub.saved);
  }

  async violations(): Promise<string[]> {
    return this.page.evaluate(() => (window as unknown as { stub: Stub }).stub.violations);
  }

  /** The visible text of the first match, white space made single. */
  async text(selector: string): Promise<string> {
    return (await this.page.locator(selector).first().innerText()).replace(/\s+/g, ' ').trim();
  }

  async screenshot(name: string): Promise<void> {
    await mkdir(outFolder, { recursive: true });
    await this.page.screenshot({ path: path.join(outFolder, `${name}.png`), fullPage: true });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
