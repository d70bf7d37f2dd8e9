import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import './provided';
import { Workbench } from './workbench';

const editor = inject('editor');
let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open(editor);
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await workbench.screenshot(`failed-${task.name.replaceAll(/\W+/g, '-')}`);
});
afterAll(() => workbench.close());

describe('a training in the integrated terminal', () => {
  it('runs', async () => {
    const file = path.join(editor.home, 'said');
    await workbench.terminal(`env > ${file}`);
    await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 60_000 });
    await workbench.screenshot('first');
  });
});
