import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { lookForDriver } from '../../src/probe/driverPresence';
import { AgentLog } from './agentLog';
import { Panel, type PanelFigures } from './panel';
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
    expect(first.total).toBe(2 * 1024 ** 3);
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
});
