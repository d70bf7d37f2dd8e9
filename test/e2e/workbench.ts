import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { chromium, type Browser, type FrameLocator, type Page } from 'playwright-core';
import type { Editor } from './provided';

/** The first load of the workbench takes 10 to 16 s on two idle cores. */
const loadLimit = 120_000;

/** A page with the workbench in it, driven the way a user does: palette, keyboard, mouse. */
export class Workbench {
  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    private readonly editor: Editor,
  ) {}

  /** Starts a browser and opens the workspace. */
  static async open(editor: Editor): Promise<Workbench> {
    const home = path.join(editor.home, 'browser');
    mkdirSync(home, { recursive: true });
    const browser = await chromium.launch({
      executablePath: editor.chromium,
      env: { ...process.env, HOME: home } as Record<string, string>,
      args: [
        ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
        ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
      ],
    });
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    const workbench = new Workbench(browser, page, editor);
    await page.goto(`${editor.url}/?folder=${encodeURIComponent(editor.workspace)}`);
    await workbench.loaded();
    return workbench;
  }

  /** Waits until the workbench is there and its extensions are started. */
  async loaded(): Promise<void> {
    await this.page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: loadLimit });
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  /** Runs a command by its title in the palette, e.g. `View: Toggle Panel`. */
  async command(title: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget input[type="text"]');
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
    // While the workbench still loads, the palette may close again or be opened without its commands.
    for (let left = 10; ; left--) {
      try {
        await this.page.keyboard.press('F1');
        await input.fill(`>${title}`, { timeout: 3000 });
        await row.click({ timeout: 3000 });
        return;
      } catch (error) {
        if (left === 0) throw error;
        await this.page.keyboard.press('Escape');
      }
    }
  }

  /** Types one line into a new integrated terminal. */
  async terminal(line: string): Promise<void> {
    await this.command('Terminal: Create New Terminal');
    const terminal = this.page.locator('.terminal-wrapper.active .xterm');
    await terminal.waitFor({ timeout: loadLimit });
    // The prompt shows that the shell reads.
    await this.page
      .locator('.terminal-wrapper.active .xterm-cursor, .terminal-wrapper.active canvas')
      .first()
      .waitFor();
    await terminal.click();
    await this.page.keyboard.type(line);
    await this.page.keyboard.press('Enter');
  }

  /** Opens a file of the workspace in the editor, by its name. */
  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press('F1');
    await this.page.locator('.quick-input-widget input[type="text"]').fill(name);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click();
    await this.page.locator('.tabs-container .tab.active', { hasText: name }).waitFor();
  }

  /** Answers the input box that is open, whose title is `title`. */
  async answer(title: string, text: string): Promise<void> {
    const box = this.page.locator('.quick-input-widget', { hasText: title });
    await box.locator('input[type="text"]').fill(text);
    await this.page.keyboard.press('Enter');
    await box.waitFor({ state: 'hidden' });
  }

  /** The text of a notification that matches, once it is there. */
  async notification(pattern: RegExp): Promise<string> {
    const toast = this.page.locator('.notification-toast .notification-list-item-message', { hasText: pattern });
    await toast.first().waitFor();
    return (await toast.first().textContent()) ?? '';
  }

  /** Chooses a colour theme by its name. */
  async theme(name: string): Promise<void> {
    await this.command('Preferences: Color Theme');
    const picker = this.page.locator('.quick-input-widget', { has: this.page.locator('[placeholder*="Color Theme"]') });
    await picker.locator('input[type="text"]').fill(name);
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: new RegExp(`^${name}`) });
    await row.first().click();
    await picker.waitFor({ state: 'hidden' });
  }

  /** Drags the edge of the side bar until it is so many pixels wide, or as near as VS Code lets it. */
  async sideBarWidth(pixels: number): Promise<void> {
    const { x, y, width, height } = await this.box('.part.sidebar');
    const { mouse } = this.page;
    await mouse.move(x + width, y + height / 2);
    await mouse.down();
    await mouse.move(x + pixels, y + height / 2, { steps: 5 });
    await mouse.up();
  }

  private async box(selector: string): Promise<{ x: number; y: number; width: number; height: number }> {
    const box = await this.page.locator(selector).boundingBox();
    if (box === null) throw new Error(`${selector} is not shown`);
    return box;
  }

  /** The page of our panel, or whatever webview is shown. */
  webview(): FrameLocator {
    return this.page.frameLocator('iframe.webview').frameLocator('#active-frame');
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.loaded();
  }

  /** Saves a picture of the whole window under out/e2e/. */
  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: path.join(this.editor.results, `${name}.png`) });
  }
}
