/** What the page does with messages, keys and clicks. */
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { panelStrings, type PanelStrings } from '../../src/shared/panelStrings';
import { GiB, MiB } from '../../src/shared/units';
import { launchBrowser, PanelPage, type Options } from './panelPage';
import * as states from './states';

describe('the panel page', () => {
  let browser: Browser;
  let panel: PanelPage;
  const open = async (options?: Options) => (panel = await PanelPage.open(browser, options));

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterEach(async () => {
    expect(await panel.violations()).toEqual([]);
    expect(panel.errors).toEqual([]);
    await panel.close();
  });
  afterAll(() => browser.close());

  it('says ready, then watches the device it shows', async () => {
    await open();
    expect(await panel.posted()).toEqual([{ type: 'ready' }]);
    await panel.showState(states.training());
    expect(await panel.posted()).toEqual([{ type: 'ready' }, { type: 'watch', deviceKey: 'GPU-0', spanS: 600 }]);
  });

  it('shows a frame without figures until the host answers', async () => {
    await open();
    await panel.page.waitForSelector('.lens.busy .loading');
    expect(await panel.text('.loading')).toMatch(/^–/);
    await panel.hydrate(states.training());
    expect(await panel.page.locator('.loading').isVisible()).toBe(false);
  });

  it('shows a ledger that adds up, on the table and in the bar', async () => {
    await open();
    await panel.showState(states.training());
    const figures = await panel.page.locator('.ledger tbody tr:not(.sub):not(.total) td').allInnerTexts();
    expect(figures).toEqual(['14.70', '3.82', '3.40', '0.53', '1.17', '0.03', '0.34']);
    expect(Math.round(figures.reduce((sum, figure) => sum + Number(figure) * 100, 0))).toBe(2399);
    expect(await panel.text('.ledger .total td')).toBe('23.99');
    expect(await panel.text('.device-free')).toBe('3.4 GiB free of 24.0');
    expect(await panel.page.locator('.device-bar').first().getAttribute('aria-label')).toBe(
      'GPU 0, 23.99 GiB in total: Used 14.70, pending 0.02, stranded 1.19, releasable 2.61, Free 3.40, Outside PyTorch 0.53, Other processes 1.17, Unattributed 0.03, Driver reserved 0.34.',
    );
    const widths = await panel.page
      .locator('.device .device-bar i')
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().width));
    expect(widths.every((width) => Number.isInteger(width) && width >= 2)).toBe(true);
    expect(widths.reduce((sum, width) => sum + width, 0)).toBe(256);
  });

  it('marks a simulated device as simulated and lists no other processes', async () => {
    await open();
    await panel.showState(states.simulated());
    expect(await panel.text('.tag')).toBe('Simulated');
    expect(await panel.text('.note.info')).toContain('Nothing here was measured on a GPU.');
    expect(await panel.page.locator('.device-bar.simulated').count()).toBe(1);
    expect(await panel.page.locator('.section-processes').isVisible()).toBe(false);
    await panel.hydrate(states.training());
    expect(await panel.page.locator('.tag').isVisible()).toBe(false);
    expect(await panel.page.locator('.note.info').isVisible()).toBe(false);
  });

  it('moves its numbers when the state does, and keeps the row’s element and focus', async () => {
    await open();
    const state = states.training();
    await panel.showState(state);
    await panel.page.locator('.session-actions .button').focus();
    const session = state.sessions[0];
    const device = state.devices[0];
    if (!session || !device) throw new Error('the state has a session and a device');
    session.step = 12_481;
    session.usedBytes += 512 * MiB;
    session.reservedBytes += 512 * MiB;
    device.ledger.used = (device.ledger.used ?? 0) + 512 * MiB;
    device.ledger.free = (device.ledger.free ?? 0) - 512 * MiB;
    await panel.send({ type: 'state', state });
    await panel.page.waitForFunction(() => document.querySelector('.value-number')?.textContent === '15.20');
    expect(await panel.text('.session-facts')).toBe('pid 48213 · step 12,481 · 1.42 steps/s');
    expect(await panel.page.evaluate(() => document.activeElement?.textContent)).toBe('Free GPU Cache');
  });

  it('draws what is appended', async () => {
    await open();
    const state = states.simulated();
    await panel.showState(state);
    const drawnHigh = () =>
      panel.page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('.chart canvas');
        const data = canvas?.getContext('2d')?.getImageData(canvas.width - 26 * 2 - 6, 60, 1, 1).data;
        return (data?.[3] ?? 0) > 0;
      });
    expect(await drawnHigh()).toBe(false);
    const end = states.nowMs;
    const times = Array.from({ length: 40 }, (_, i) => end + (i + 1) * 1000);
    await panel.sendColumns('append', 'SIM-0', {
      timeMs: times,
      usedBytes: times.map(() => 75 * GiB),
      reservedBytes: times.map(() => 78 * GiB),
      step: times.map(() => 62),
    });
    await expect.poll(drawnHigh).toBe(true);
  });

  it('reads the moment under the cursor, by key and by pointer', async () => {
    await open();
    await panel.showState(states.training());
    await panel.page.locator('.chart').focus();
    await panel.page.keyboard.press('Home');
    await panel.page.waitForFunction(() => document.querySelector('.moment')?.textContent?.startsWith('11:5'));
    expect(await panel.text('.value-under')).toBe('now 14.70');
    expect(await panel.page.locator('[role=status]').textContent()).toMatch(
      /^11:5\d:\d\d, step 11,\d+: used 10\.00, cached/,
    );
    await panel.page.keyboard.press('Escape');
    expect(await panel.text('.moment')).toBe('Now');
    expect(await panel.text('.value-under')).toBe('peak 14.95');
    const box = await panel.page.locator('.chart').boundingBox();
    if (!box) throw new Error('the chart has a place');
    await panel.page.mouse.move(box.x + 60, box.y + 80);
    await panel.page.waitForFunction(() => document.querySelector('.moment')?.textContent !== 'Now');
  });

  it('chooses ranges with the arrow keys and remembers the choice', async () => {
    await open();
    await panel.showState(states.training());
    await panel.page.locator('.ranges [aria-checked=true]').focus();
    await panel.page.keyboard.press('ArrowRight');
    expect(await panel.text('.ranges [aria-checked=true]')).toBe('1 h');
    expect((await panel.posted()).at(-1)).toEqual({ type: 'watch', deviceKey: 'GPU-0', spanS: 3600 });
    const saved = await panel.saved();
    await panel.close();
    await open({ saved });
    await panel.hydrate(states.training());
    expect((await panel.posted()).at(-1)).toEqual({ type: 'watch', deviceKey: 'GPU-0', spanS: 3600 });
  });

  it('chooses devices with the arrow keys', async () => {
    await open();
    await panel.showState(states.ranks());
    expect(await panel.text('.device[aria-checked=true] .strong')).toBe('GPU 0');
    await panel.page.locator('.device[aria-checked=true]').focus();
    await panel.page.keyboard.press('ArrowDown');
    expect(await panel.text('.device[aria-checked=true] .strong')).toBe('GPU 1');
    expect((await panel.posted()).at(-1)).toEqual({ type: 'watch', deviceKey: 'GPU-1', spanS: 600 });
  });

  it('closes and opens a section, over a reload too', async () => {
    await open();
    await panel.showState(states.training());
    await panel.page.locator('.section-ledger .section-toggle').click();
    expect(await panel.page.locator('.ledger').isVisible()).toBe(false);
    const saved = await panel.saved();
    await panel.close();
    await open({ saved });
    await panel.hydrate(states.training());
    expect(await panel.page.locator('.ledger').isVisible()).toBe(false);
    expect(await panel.page.locator('.section-ledger .section-toggle').getAttribute('aria-expanded')).toBe('false');
  });

  it('frees the cache, says that it waits, and then what came back', async () => {
    await open();
    const state = states.training();
    await panel.showState(state);
    const button = panel.page.locator('.session-actions .button');
    expect(await panel.text('.returns')).toBe('returns 2.61 GiB');
    await button.click();
    expect((await panel.posted()).at(-1)).toEqual({ type: 'freeCache', sessionKey: 's1' });
    const waiting = states.training();
    if (waiting.sessions[0]) waiting.sessions[0].freeing = true;
    await panel.send({ type: 'state', state: waiting });
    await panel.page.waitForFunction(
      () => document.querySelector('.session-actions .button')?.textContent === 'At the end of this step…',
    );
    const before = (await panel.posted()).length;
    await button.press('Enter');
    expect((await panel.posted()).length).toBe(before);
    await panel.send({ type: 'state', state: states.freed() });
    await panel.page.waitForSelector('.note.good');
    expect(await panel.text('.note-text')).toBe(
      'Returned 2.61 GiB to the driver. 1.19 GiB is stranded in partly used segments; 14.70 GiB is held by live tensors.',
    );
    expect(await panel.page.locator('[role=status]').textContent()).toContain('Returned 2.61 GiB to the driver.');
    await panel.page.getByRole('button', { name: 'Dismiss' }).click();
    expect((await panel.posted()).at(-1)).toEqual({ type: 'dismissFreed', sessionKey: 's1' });
  });

  it('says neutrally that nothing came back, and why a session refused', async () => {
    await open();
    await panel.showState(states.freed(states.freedResult(0)));
    expect(await panel.text('.note.neutral')).toMatch(/^Nothing to return\./);
    await panel.page.reload();
    await panel.setTheme('dark');
    await panel.hydrate(states.freed({ done: false, reason: 'capture', message: '' }));
    expect(await panel.text('.note.bad')).toContain('recording a CUDA graph');
  });

  it('offers what can be done without a driver and without a session', async () => {
    await open();
    await panel.hydrate(states.noDriver());
    expect(await panel.text('.empty h2')).toBe('No NVIDIA driver found');
    expect(await panel.page.locator('.empty code').allInnerTexts()).toContain('libnvidia-ml.so.1');
    for (const name of ['Try a Script Without a GPU', 'Check again', 'Show log']) {
      await panel.page.getByRole('button', { name }).click();
    }
    await panel.send({ type: 'state', state: states.noSession() });
    await panel.page.getByRole('button', { name: 'Run Current File with Memory Agent' }).click();
    expect(await panel.text('.verdict')).toBe('No training session');
    const types = (await panel.posted()).map((message) => message.type).filter((type) => type !== 'watch');
    expect(types).toEqual(['ready', 'runSimulated', 'checkDriver', 'showLog', 'runWithAgent']);
  });

  it('shows what is not known as a dash with its reason, never as zero', async () => {
    await open();
    await panel.showState(states.driverSilent());
    const outside = panel.page.locator('.ledger tr', { hasText: 'Outside PyTorch' }).locator('td');
    expect(await outside.innerText()).toBe('–');
    expect(await outside.getAttribute('title')).toContain('Not known');
    expect(await panel.text('.headline')).toBe('–');
    expect(await panel.text('.chip')).toBe('No answer for 8 s');
    expect(await panel.text('.section-processes h2')).toBe('Other processes not known');
  });

  it('opens the script of a session', async () => {
    await open();
    await panel.showState(states.training());
    await panel.page.getByRole('button', { name: 'Go to train.py' }).click();
    expect((await panel.posted()).at(-1)).toEqual({ type: 'openScript', sessionKey: 's1' });
  });

  it('speaks Simplified Chinese throughout', async () => {
    await open();
    const bundle = JSON.parse(
      await readFile(new URL('../../l10n/bundle.l10n.zh-cn.json', import.meta.url), 'utf8'),
    ) as Record<string, string>;
    const strings = Object.fromEntries(
      Object.entries(panelStrings).map(([key, text]) => [key, bundle[text] ?? `MISSING ${text}`]),
    ) as PanelStrings;
    for (const [name, state] of Object.entries({ freed: states.freed(), nodriver: states.noDriver() })) {
      await panel.showState(state, strings, 'zh-cn');
      expect(await panel.page.innerText('main')).not.toContain('MISSING');
      for (const width of [280, 960]) {
        await panel.page.setViewportSize({ width, height: 900 });
        await panel.screenshot(`${name}-zh-dark-${width}`);
      }
    }
    expect(await panel.page.evaluate(() => document.documentElement.lang)).toBe('zh-cn');
  });

  it('draws nothing while hidden', async () => {
    await open();
    const state = states.training();
    await panel.showState(state);
    await panel.page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    if (state.sessions[0]) state.sessions[0].state = 'idle';
    await panel.send({ type: 'state', state });
    await panel.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1200)));
    expect(await panel.text('.chip')).toBe('Training');
    await panel.page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: false, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await panel.page.waitForFunction(() => document.querySelector('.chip')?.textContent === 'Idle, holding');
  });
});
