import path from 'node:path';
import { existsSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { lookForDriver } from '../../src/probe/driverPresence';
import { GiB, MiB } from '../../src/shared/units';
import { AgentLog } from './agentLog';
import { limit, Panel, type PanelFigures } from './panel';
import './provided';
import { newestLine } from './report';
import { Workbench } from './workbench';

const editor = inject('editor');
const report = path.join(editor.home, 'report.jsonl');
/** Between two steps nothing changes: long enough to read three sources at one standstill. */
const pauseS = 2;

let workbench: Workbench;
let panel: Panel;
let agent: AgentLog;
beforeAll(async () => {
  workbench = await Workbench.open(editor);
  panel = new Panel(workbench);
  agent = new AgentLog(editor);
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await workbench.screenshot(`failed-${task.name.replaceAll(/\W+/g, '-')}`);
});
afterAll(async () => {
  agent.close();
  await workbench.close();
});

/** The panel, the agent as another client hears it, and torch.cuda inside the script name the same bytes. */
function agreesWithAgentAndScript(now: PanelFigures): void {
  const said = newestLine(report);
  const sample = agent.sample(now.pid);
  expect(now.step).toBe(said.step);
  expect({ used: now.used, reserved: now.used + now.cached }).toEqual({
    used: said.memory_allocated,
    reserved: said.memory_reserved,
  });
  expect({ used: sample.usedBytes, reserved: sample.reservedBytes }).toEqual({
    used: said.memory_allocated,
    reserved: said.memory_reserved,
  });
  expect(newestLine(report).step).toBe(said.step);
}

/** The sizes a sentence names, in MiB. */
function sizesIn(text: string): [number, number, number] {
  const sizes = Array.from(text.matchAll(/(\d+) MiB/g), (match) => Number(match[1]));
  const [first, second, third] = sizes;
  if (first === undefined || second === undefined || third === undefined) throw new Error(`three sizes in: ${text}`);
  return [first, second, third];
}

describe('the panel', () => {
  it('says what is missing before there is a session', async () => {
    await panel.open();
    const { state } = await lookForDriver();
    if (state === 'absent') await panel.says('No NVIDIA driver found');
    await workbench.screenshot('before');
  });

  it('streams a training from the integrated terminal, with the figures of its agent and of torch.cuda', async () => {
    const options = `--device cuda --leak --pause ${pauseS} --report ${report}`;
    await workbench.terminal(`VRAM_LENS_SIMULATE=2GiB ${editor.python} train.py ${options}`);
    await panel.says('train.py');
    const first = await panel.eventually((now) => expect(now.step).toBeGreaterThan(0));
    expect(first.total).toBe(2 * GiB);
    expect(first.used + first.cached + first.free).toBe(first.total);
    const then = await panel.eventually(agreesWithAgentAndScript);
    // The leak makes the figure move with every step.
    const later = await panel.eventually((now) => {
      expect(now.step).toBeGreaterThan(then.step);
      agreesWithAgentAndScript(now);
    });
    expect(later.used).toBeGreaterThan(then.used);
  });

  it('says that it is simulated', async () => {
    await panel.says(/^Simulated:/);
    expect(agent.sample((await panel.figures()).pid).simulated).toBe(true);
    await workbench.screenshot('training');
  });

  it('goes on after a reload of the window', async () => {
    const before = await panel.figures();
    await workbench.reload();
    const after = await panel.eventually(agreesWithAgentAndScript);
    expect(after.pid).toBe(before.pid);
    expect(after.step).toBeGreaterThanOrEqual(before.step);
  });

  it('frees the cache by the button of the session, at the end of a step', async () => {
    const before = await panel.eventually((now) => {
      agreesWithAgentAndScript(now);
      expect(now.cached).toBeGreaterThan(32 * MiB);
    });
    await panel.free('train.py');
    const note = await panel.note('train.py', /^Returned \d+ MiB to the driver\./);
    const [returned, stranded, held] = sizesIn(note);
    // The note speaks of one moment, so its parts are the whole of what was reserved before.
    const went = /^Reserved went from (\d+) MiB to (\d+) MiB/.exec(await panel.noteDetail('train.py'));
    expect(Math.abs(Number(went?.[1]) - returned - Number(went?.[2]))).toBeLessThanOrEqual(1);
    expect(Number(went?.[2])).toBeGreaterThanOrEqual(stranded + held - 1);
    expect(returned).toBeGreaterThan(32);
    // Until the next step allocates anew, the panel shows the drop, and the script says it too.
    await panel.eventually((now) => {
      agreesWithAgentAndScript(now);
      expect(now.used + now.cached).toBeLessThan(before.used + before.cached);
    });
    await workbench.screenshot('freed-after-step');
  });

  it('says when the session has ended', async () => {
    // As Ctrl-C does; after the reload its terminal is not shown any more.
    process.kill((await panel.figures()).pid, 'SIGINT');
    await panel.state('train.py', 'Ended');
  });

  it('frees the cache from the palette, with the numbers worked out by hand', async () => {
    const ready = path.join(editor.home, 'ready');
    await workbench.terminal(`VRAM_LENS_SIMULATE=2GiB ${editor.python} ${import.meta.dirname}/hold.py ${ready}`);
    await vi.waitFor(() => expect(existsSync(ready)).toBe(true), limit);
    const before = await panel.eventually((now) => expect(now.used).toBe(129 * MiB), 'hold.py');
    expect(before.cached).toBe(65 * MiB);
    await workbench.command('GPU Memory: Free GPU Cache');
    // It asks which session where this machine runs others.
    const asked = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'hold.py' });
    const note = await vi.waitFor(async () => {
      if (await asked.isVisible()) await asked.click();
      return panel.note('hold.py', /^Returned/, 1000);
    }, limit);
    expect(note).toBe(
      'Returned 64 MiB to the driver. 1 MiB is stranded in partly used segments; 129 MiB is held by live tensors.',
    );
    const after = await panel.eventually((now) => expect(now.cached).toBe(MiB), 'hold.py');
    expect(after.used).toBe(129 * MiB);
    expect(agent.sample(after.pid).reservedBytes).toBe(130 * MiB);
    await workbench.screenshot('freed-from-palette');
    process.kill(after.pid);
    await panel.state('hold.py', 'Ended');
  });
});
