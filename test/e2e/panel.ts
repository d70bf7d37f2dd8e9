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

  /** Opens the view by its icon in the activity bar. */
  async open(): Promise<void> {
    await this.workbench.page.locator('.activitybar .action-label[aria-label^="GPU Memory"]').click();
    await this.page.locator('main.lens').waitFor({ timeout: limit.timeout });
  }

  /** Waits until the page says `text` somewhere. */
  async says(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor({ timeout: limit.timeout });
  }

  /** Everything of one moment; throws while there is no session, or figures are missing. */
  async figures(): Promise<PanelFigures> {
    const read = await this.page.locator('main.lens').evaluate((main) => ({
      rows: Array.from(main.querySelectorAll('table.ledger tbody tr'), (row): [string, string] => [
        row.querySelector('th')?.textContent ?? '',
        row.querySelector('td')?.getAttribute('title') ?? '',
      ]),
      facts: main.querySelector('.session:not([hidden]) .session-facts')?.textContent ?? '',
    }));
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
  async eventually(check: (now: PanelFigures) => void | Promise<void>): Promise<PanelFigures> {
    return vi.waitFor(async () => {
      const now = await this.figures();
      await check(now);
      return now;
    }, limit);
  }

  /** Presses Free GPU Cache on the first session's row. */
  async free(): Promise<void> {
    await this.page.getByRole('button', { name: 'Free GPU Cache' }).first().click();
  }

  /** The note under the session once it says something that matches; its text. */
  async note(pattern: RegExp): Promise<string> {
    const note = this.page.locator('.session .note:not([hidden]) .note-text').first();
    return vi.waitFor(async () => {
      const text = (await note.textContent({ timeout: 1000 })) ?? '';
      expect(text).toMatch(pattern);
      return text;
    }, limit);
  }
}
