import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { spawn, type ChildProcess } from 'node:child_process';
import { DeviceBoard } from '../../../src/sessions/deviceBoard';
import { panelState } from '../../../src/sessions/panelState';
import { SessionHub } from '../../../src/sessions/sessionHub';
import { ledgerParts } from '../../../src/shared/ledger';
import type { DriverView } from '../../../src/shared/panelProtocol';
import { exampleHello, exampleSample, FakeAgent, socketFolder, socketName } from './fakeAgent';

const patience = { timeout: 15_000, interval: 20 };
const driver: DriverView = { state: 'absent', lookedFor: [] };

describe('DeviceBoard', () => {
  let folder: ReturnType<typeof socketFolder>;
  let hub: SessionHub;
  let board: DeviceBoard;
  let watching: { dispose(): void };
  const agents: FakeAgent[] = [];
  const children: ChildProcess[] = [];

  /** A session of a process of its own. */
  async function session(changes: Parameters<typeof exampleHello>[0]): Promise<FakeAgent> {
    const child = spawn('sleep', ['60']);
    children.push(child);
    const pid = child.pid ?? 0;
    const before = hub.sessions.length;
    const agent = await FakeAgent.listen(folder.path, { hello: exampleHello({ pid, ...changes }) }, socketName(pid));
    agents.push(agent);
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(before + 1), patience);
    return agent;
  }

  beforeEach(() => {
    folder = socketFolder();
    hub = new SessionHub({ client: 'test', hz: 10, log: () => undefined, folders: [folder.path] });
    board = new DeviceBoard(hub);
    watching = hub.watch();
  });

  afterEach(async () => {
    watching.dispose();
    board.dispose();
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const agent of agents.splice(0)) await agent.close();
    folder.remove();
  });

  it('adds up the sessions that share a device, and tells several devices of one apart', async () => {
    const gpu = (index: number): { index: number; uuid: string; name: string; totalBytes: number } => ({
      index,
      uuid: `GPU-${index}`,
      name: 'NVIDIA A10',
      totalBytes: 20_000,
    });
    const first = await session({ simulated: null, devices: [gpu(0), gpu(1)] });
    const second = await session({ simulated: null, devices: [{ ...gpu(1), index: 0 }] });
    await first.notify('sample', { ...exampleSample, device: 0, usedBytes: 11 });
    await first.notify('sample', { ...exampleSample, device: 1, usedBytes: 22 });
    await second.notify('sample', { ...exampleSample, device: 0, usedBytes: 300 });
    await vi.waitFor(() => expect(board.views(null).map((view) => view.ledger.used)).toEqual([11, 322]), patience);
    expect(board.views(null).map((view) => view.key)).toEqual(['0', '1']);
    expect(board.views(null)[1]?.ledger).toMatchObject({ totalBytes: 20_000, free: null, others: null });
    expect(board.timeline('1')?.since(0).usedBytes.at(-1)).toBe(322);
    const state = panelState(hub.sessions, board, driver, null, Date.now());
    expect(state.sessions.map((view) => view.usedBytes)).toEqual([33, 300]);
    expect(state.sessions.map((view) => view.deviceKeys)).toEqual([['0', '1'], ['1']]);
  });

  it('keeps devices without a UUID apart by session', async () => {
    const devices = [{ index: 0, uuid: null, name: 'old torch', totalBytes: 10_000 }];
    await session({ simulated: null, devices });
    await session({ simulated: null, devices });
    expect(new Set(board.views(null).map((view) => view.key)).size).toBe(2);
  });

  it('gives a simulated device a ledger that sums to its total, and a fall to zero at its end', async () => {
    const agent = await session({});
    await agent.notify('sample', { ...exampleSample, timeMs: Date.now() - 1000 });
    await vi.waitFor(() => expect(board.views(null)[0]?.ledger.used).toBe(1000), patience);
    const [view] = board.views(null);
    expect(view).toMatchObject({ simulated: true, peakUsedBytes: 2000, peakReservedBytes: 4096 });
    expect(ledgerParts.reduce((sum, part) => sum + (view?.ledger[part] ?? 0), 0)).toBe(10_000);
    children[0]?.kill('SIGKILL');
    await agent.close();
    await vi.waitFor(() => expect(hub.sessions[0]?.exit).toBe('killed'), patience);
    expect(board.views(null)[0]?.ledger).toMatchObject({ used: 0, free: 10_000 });
    expect(board.timeline('SIM-0')?.since(0).usedBytes.at(-1)).toBe(0);
    expect(panelState(hub.sessions, board, driver, null, Date.now()).sessions[0]).toMatchObject({
      state: 'ended',
      usedBytes: 0,
    });
  });

  it('draws a gap, not a line, over a pause of the samples', async () => {
    const agent = await session({});
    await agent.notify('sample', { ...exampleSample, timeMs: 1_000_000 });
    await agent.notify('sample', { ...exampleSample, timeMs: 1_010_000 });
    await vi.waitFor(() => expect(board.timeline('SIM-0')?.length).toBe(3), patience);
    expect([...(board.timeline('SIM-0')?.since(0).usedBytes ?? [])]).toEqual([1000, NaN, 1000]);
  });
});
