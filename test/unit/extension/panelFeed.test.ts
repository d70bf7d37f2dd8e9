import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PanelFeed } from '../../../src/extension/panel/panelFeed';
import { DeviceBoard } from '../../../src/sessions/deviceBoard';
import { SessionHub } from '../../../src/sessions/sessionHub';
import type { ToPanel } from '../../../src/shared/panelProtocol';
import { panelStrings } from '../../../src/shared/panelStrings';
import { exampleSample, FakeAgent, socketFolder } from '../sessions/fakeAgent';

const patience = { timeout: 15_000, interval: 20 };

describe('PanelFeed', () => {
  let folder: ReturnType<typeof socketFolder>;
  let hub: SessionHub;
  let board: DeviceBoard;
  let agent: FakeAgent;
  let feed: PanelFeed;
  let posted: ToPanel[];
  let take: () => Promise<boolean>;

  beforeEach(async () => {
    folder = socketFolder();
    hub = new SessionHub({ client: 'test', hz: 10, log: () => undefined, folders: [folder.path] });
    board = new DeviceBoard(hub);
    agent = await FakeAgent.listen(folder.path);
    posted = [];
    take = () => Promise.resolve(true);
    const page = {
      locale: 'en',
      strings: panelStrings,
      post: (message: ToPanel) => {
        posted.push(message);
        return take();
      },
    };
    feed = new PanelFeed(
      hub,
      board,
      () => ({ view: { state: 'absent', lookedFor: [] }, reading: null }),
      page,
      (error) => {
        throw error;
      },
    );
  });
  afterEach(async () => {
    feed.dispose();
    board.dispose();
    await agent.close();
    folder.remove();
  });

  const ofType = <T extends ToPanel['type']>(type: T): Extract<ToPanel, { type: T }>[] =>
    posted.filter((message): message is Extract<ToPanel, { type: T }> => message.type === type);

  it('hydrates first, then sends states and only what is new of the shown device', async () => {
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    await agent.notify('sample', { ...exampleSample, timeMs: 1_000_000 });
    await vi.waitFor(() => expect(board.timeline('SIM-0')?.length).toBe(1), patience);
    expect(posted).toHaveLength(0);

    feed.hydrate();
    expect(posted.map((message) => message.type)).toEqual(['hydrate']);
    feed.show('SIM-0', 60);
    expect([...ofType('history')[0]!.columns.usedBytes]).toEqual([1000]);
    expect(ofType('history')[0]).toMatchObject({ deviceKey: 'SIM-0', spanS: 60 });

    await agent.notify('sample', { ...exampleSample, timeMs: 1_000_100, usedBytes: 2000 });
    await agent.notify('sample', { ...exampleSample, timeMs: 1_000_200, usedBytes: 3000 });
    const appended = (): number[] => ofType('append').flatMap((message) => [...message.columns.usedBytes]);
    await vi.waitFor(() => expect(appended()).toEqual([2000, 3000]), patience);
    expect(ofType('state').at(-1)?.state.sessions[0]?.usedBytes).toBe(3000);
  });

  it('waits for a busy page instead of flooding it', async () => {
    feed.hydrate();
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    let release = (): void => undefined;
    take = () => new Promise((resolve) => (release = () => resolve(true)));
    const before = posted.length;
    await vi.waitFor(() => expect(posted.length).toBe(before + 1), patience);
    for (let i = 0; i < 30; i++) await agent.notify('sample', { ...exampleSample, timeMs: 1_000_000 + i });
    await vi.waitFor(() => expect(board.timeline('SIM-0')?.length).toBe(30), patience);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(posted).toHaveLength(before + 1);
    take = () => Promise.resolve(true);
    release();
    await vi.waitFor(() => expect(posted.length).toBeGreaterThan(before + 1), patience);
  });

  it('costs nothing once it is disposed of: no connection, no message', async () => {
    feed.hydrate();
    await vi.waitFor(() => expect(agent.clients).toBe(1), patience);
    feed.dispose();
    await vi.waitFor(() => expect(agent.clients).toBe(0), patience);
    const count = posted.length;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(posted).toHaveLength(count);
  });
});
