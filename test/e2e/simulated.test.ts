import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { AgentLog } from './agentLog';
import { limit, Panel, type PanelFigures } from './panel';
import './provided';
import { Workbench } from './workbench';

const editor = inject('editor');
const gib = 1024 ** 3;

let workbench: Workbench;
let panel: Panel;
let agent: AgentLog;
/** What the page's console said against the content security policy. */
const violations: string[] = [];

beforeAll(async () => {
  workbench = await Workbench.open(editor);
  workbench.page.on('console', (message) => {
    const isOurs = message.location().url.includes('vram-lens');
    if (isOurs && message.text().includes('Content Security Policy')) violations.push(message.text());
  });
  panel = new Panel(workbench);
  agent = new AgentLog(editor);
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await workbench.screenshot(`failed-${task.name.replaceAll(/\W+/g, '-')}`);
});
afterAll(async () => {
  agent.close();
  await workbench.command('Terminal: Kill the Active Terminal Instance');
  await workbench.close();
});

describe('the commands', () => {
  let first: PanelFigures;

  it('run the file in the editor on a simulated GPU of the size asked for', async () => {
    await workbench.openFile('train.py');
    await workbench.command('GPU Memory: Run Current File on Simulated GPU');
    await workbench.answer('Run Current File on Simulated GPU', '3GiB');
    first = await panel.eventually((now) => {
      expect(now.total).toBe(3 * gib);
      expect(now.step).toBeGreaterThan(0);
    });
    await panel.says(/^Simulated:/);
  });

  it('show figures that move while it trains', async () => {
    await panel.eventually((now) => {
      expect(now.step).toBeGreaterThan(first.step);
      expect(now.used).not.toBe(first.used);
    });
  });

  it('free the cache from the palette and say what came back', async () => {
    const askedMs = Date.now();
    const before = agent.sample(first.pid).reservedBytes;
    await workbench.command('GPU Memory: Free GPU Cache');
    const said = await workbench.notification(/Returned [\d.]+ [KMG]iB to the driver/);
    expect(said).toMatch(/[\d.]+ [KMG]iB is stranded in partly used segments; [\d.]+ [KMG]iB is held by live tensors/);
    // The training goes on and soon fills the cache again, so the drop is looked for among the samples.
    await vi.waitFor(() => {
      const reserved = agent.since(first.pid, askedMs).map((sample) => sample.reservedBytes);
      expect(Math.min(...reserved)).toBeLessThan(before);
    }, limit);
  });
});

describe('the view', () => {
  const themes = [
    ['Light Modern', 'vscode-light'],
    ['Dark High Contrast', 'vscode-high-contrast'],
    ['Light High Contrast', 'vscode-high-contrast-light'],
    ['Dark Modern', 'vscode-dark'],
  ] as const;

  it.each(themes)('follows the theme %s at every width', async (theme, bodyClass) => {
    await workbench.theme(theme);
    await panel.body(`.${bodyClass}`);
    for (const width of [250, 280, 700]) {
      await workbench.sideBarWidth(width);
      await vi.waitFor(async () => expect(await panel.overflow()).toBeLessThanOrEqual(0), limit);
      await workbench.screenshot(`${bodyClass}-${width}`);
    }
  });

  it('does nothing that its content security policy forbids', () => {
    expect(violations).toEqual([]);
  });

  it('was there soon: prints how long the extension took to activate', async () => {
    // Tall enough for all of the list's rows: only those in sight exist.
    await workbench.page.setViewportSize({ width: 1280, height: 3000 });
    await workbench.command('Developer: Show Running Extensions');
    const row = workbench.page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'VRAM Lens' });
    const text = (await row.first().textContent()) ?? '';
    expect(text).toMatch(/\d+ms/);
    console.log(`Activation: ${/\d+ms/.exec(text)?.[0]}`);
  });
});
