import { expect, vi } from 'vitest';
import type { Workbench } from './workbench';

/** What the panel shows of one device and one session, sizes in bytes as its tooltips say them exactly. */
export interface PanelFigures {
  step: number;
  pid: number;
  used: number;
  cached: number;
  free: number;
  total: number;
}

/** No condition of these tests may take longer. */
export const limit = { timeout: 60_000, interval: 200 };

/** The panel "GPU Memory", read the way a user reads it. */
export class Panel {
  constructor(private readonly workbench: Workbench) {}

  private get page() {
    return this.workbench.webview();
  }

  private row(script: string) {
    return this.page.locator('.session', { hasText: script });
  }

  /** Opens the view by its icon in the activity bar. */
  async open(): Promise<void> {
    await this.workbench.page.locator('.activitybar .action-label[aria-label^="GPU Memory"]').click();
    await this.page.locator('main.lens').waitFor({ timeout: limit.timeout });
  }

  /** Waits until the page says `text` somewhere. */
  async says(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor({ timeout: limit.timeout });
  }

  /** Everything of one moment; throws while the session of `script` is not there, or figures are missing. */
  async figures(script = 'train.py'): Promise<PanelFigures> {
    const read = await this.page.locator('main.lens').evaluate(
      (main, name) => ({
        rows: Array.from(main.querySelectorAll('table.ledger tbody tr'), (row): [string, string] => [
          row.querySelector('th')?.textContent ?? '',
          row.querySelector('td')?.getAttribute('title') ?? '',
        ]),
        facts:
          Array.from(main.querySelectorAll('.session'))
            .find((row) => row.querySelector('.session-name')?.textContent?.startsWith(name))
            ?.querySelector('.session-facts')?.textContent ?? '',
      }),
      script,
    );
    const number = (text: string | undefined): number => {
      const digits = text?.match(/[\d,]+/)?.[0].replaceAll(',', '');
      if (digits === undefined) throw new Error(`no figure in ${text}`);
      return Number(digits);
    };
    const bytes = (name: string): number => number(read.rows.find(([row]) => row === name)?.[1]);
    return {
      step: number(/step ([\d,]+)/.exec(read.facts)?.[1]),
      pid: number(/pid (\d+)/.exec(read.facts)?.[1]),
      ...{ used: bytes('Used'), cached: bytes('Cached'), free: bytes('Free'), total: bytes('Total') },
    };
  }

  /** Waits until the figures fulfil what `check` expects. */
  async eventually(check: (now: PanelFigures) => void | Promise<void>, script?: string): Promise<PanelFigures> {
    return vi.waitFor(async () => {
      const now = await this.figures(script);
      await check(now);
      return now;
    }, limit);
  }

  /** Waits until the page's body matches the selector. */
  async body(selector: string): Promise<void> {
    await this.page.locator(`body${selector}`).waitFor({ timeout: limit.timeout });
  }

  /** By how many pixels the page is wider than its view; not above 0 where nothing is cut off. */
  async overflow(): Promise<number> {
    return this.page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);
  }

  /** Waits until the row of the session of `script` names this state. */
  async state(script: string, name: string): Promise<void> {
    await this.row(script).locator('.chip', { hasText: name }).waitFor({ timeout: limit.timeout });
  }

  /** Presses Free GPU Cache on the row of the session of `script`. */
  async free(script: string): Promise<void> {
    await this.row(script).getByRole('button', { name: 'Free GPU Cache' }).click();
  }

  /** The note in the row of the session of `script` once it says something that matches; its text. */
  async note(script: string, pattern: RegExp, timeout = limit.timeout): Promise<string> {
    const note = this.row(script).locator('.note-text');
    return vi.waitFor(
      async () => {
        const text = (await note.textContent({ timeout: 1000 })) ?? '';
        expect(text).toMatch(pattern);
        return text;
      },
      { ...limit, timeout },
    );
  }

  /** The line below the note's sentence. */
  async noteDetail(script: string): Promise<string> {
    return (await this.row(script).locator('.note p.small').first().textContent()) ?? '';
  }
}
