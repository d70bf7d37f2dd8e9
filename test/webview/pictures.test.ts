/** Every state in every theme and width: no accessibility finding, no policy violation, and a picture to look at. */
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, PanelPage } from './panelPage';
import * as states from './states';
import { themes, type ThemeName } from './themes';

const pictures = {
  training: states.training,
  simulated: states.simulated,
  freed: states.freed,
  ranks: states.ranks,
  nosession: states.noSession,
  nodriver: states.noDriver,
  silent: states.driverSilent,
};

describe('pictures', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  for (const theme of Object.keys(themes) as ThemeName[]) {
    for (const [name, state] of Object.entries(pictures)) {
      it(`${name} in ${theme}`, async () => {
        const panel = await PanelPage.open(browser, { theme, width: 280 });
        await panel.showState(state());
        for (const width of theme === 'dark' ? [250, 280, 740, 960] : [250, 280, 960]) {
          await panel.page.setViewportSize({ width, height: 900 });
          if (state().sessions.length > 0) await panel.waitForChart();
          await panel.screenshot(`${name}-${theme}-${width}`);
          const sideways = await panel.page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
          expect(sideways, `${width} px scrolls sideways`).toBe(false);
          await panel.page.evaluate(axe.source);
          const result = await panel.page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
          expect(result.violations.map((v) => `${width}: ${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`)).toEqual(
            [],
          );
        }
        expect(await panel.violations()).toEqual([]);
        expect(panel.errors).toEqual([]);
        await panel.close();
      });
    }
  }
});
