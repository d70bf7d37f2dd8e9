import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import './provided';
import { Workbench } from './workbench';

const editor = inject('editor');
const file = path.join(editor.workspace, 'leaky.py');
const releaseFile = path.join(editor.workspace, 'release.py');
const limit = { timeout: 60_000, interval: 200 };

const script = `import torch
from torch import nn


def evaluate(model, criterion, batches):
    total = 0.0
    for inputs, targets in batches:
        total += criterion(model(inputs), targets)
    return total


net = nn.Linear(4, 1)
print(float(evaluate(net, nn.MSELoss(), [])))
`;

const release = `import torch
from torch import nn

net = nn.Linear(4, 1)
print(net(torch.ones(2, 4)))
print("done")
`;

let workbench: Workbench;
beforeAll(async () => {
  writeFileSync(file, script);
  writeFileSync(releaseFile, release);
  workbench = await Workbench.open(editor);
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await workbench.screenshot(`failed-${task.name.replaceAll(/\W+/g, '-')}`);
});
afterAll(() => workbench.close());

describe('a leak in an open script', () => {
  it('is underlined and listed with its reasons', async () => {
    await workbench.openFile('leaky.py');
    await workbench.page.locator('.monaco-editor .squiggly-error').first().waitFor({ timeout: limit.timeout });
    await workbench.command('Problems: Focus on Problems View');
    const rows = workbench.page.locator('.markers-panel .monaco-list-row');
    await vi.waitFor(async () => {
      const texts = (await rows.allInnerTexts()).join('\n');
      expect(texts).toContain('total keeps the graph of every round with all its activations');
      expect(texts).toContain('graph-summed');
    }, limit);
    await workbench.screenshot('finding');
  });

  it('is mended by the quick fix', async () => {
    await workbench.openFile('leaky.py');
    await workbench.command('Go to Next Problem in Files');
    await workbench.page.keyboard.press('Escape');
    await workbench.page.keyboard.press('Control+.');
    const fix = workbench.page.locator('.action-widget .monaco-list-row', { hasText: 'Keep the number' });
    await fix.waitFor({ timeout: limit.timeout });
    await workbench.screenshot('fixes');
    await fix.click();
    await workbench.page
      .locator('.monaco-editor .squiggly-error')
      .first()
      .waitFor({ state: 'detached', ...limit });
    await workbench.command('File: Save');
    const mended = 'total += criterion(model(inputs), targets).item()';
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain(mended), limit);
    expect(readFileSync(file, 'utf8')).toBe(
      script.replace('criterion(model(inputs), targets)', 'criterion(model(inputs), targets).item()'),
    );
  });
});

describe('a model that is not needed any more', () => {
  it('is released by the refactoring that the cursor asks for', async () => {
    await workbench.openFile('release.py');
    await workbench.command('Go to Line/Column');
    // The box has the colon that asks for a line.
    await workbench.page.locator('.quick-input-widget input[type="text"]').fill(':4:2');
    await workbench.page.keyboard.press('Enter');
    await workbench.page.locator('.statusbar', { hasText: 'Ln 4, Col 2' }).waitFor({ timeout: limit.timeout });
    const row = workbench.page.locator('.action-widget .monaco-list-row', { hasText: 'Release GPU memory' });
    // The server may still read the file.
    await vi.waitFor(async () => {
      await workbench.page.keyboard.press('Escape');
      await workbench.command('Refactor...');
      await row.waitFor({ timeout: 3000 });
    }, limit);
    expect(await row.innerText()).toContain('Release GPU memory after last use of net');
    await workbench.screenshot('release');
    await row.click();
    await vi.waitFor(async () => {
      await workbench.command('File: Save');
      expect(readFileSync(releaseFile, 'utf8')).toContain('empty_cache');
    }, limit);
    expect(readFileSync(releaseFile, 'utf8')).toBe(
      release
        .replace('import nn\n', 'import nn\nimport gc\n')
        .replace('4)))\n', '4)))\ndel net\ngc.collect()\ntorch.cuda.empty_cache()\n'),
    );
  });
});
