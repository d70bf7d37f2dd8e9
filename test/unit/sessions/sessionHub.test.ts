import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SessionHub } from '../../../src/sessions/sessionHub';
import { exampleHello, exampleSample, FakeAgent, socketFolder, socketName } from './fakeAgent';

const patience = { timeout: 15_000, interval: 20 };

describe('SessionHub', () => {
  let folder: ReturnType<typeof socketFolder>;
  let hub: SessionHub;
  const logged: string[] = [];
  const agents: FakeAgent[] = [];
  const watches: { dispose(): void }[] = [];

  async function agent(answers?: Record<string, unknown>, name?: string): Promise<FakeAgent> {
    const one = await FakeAgent.listen(folder.path, answers, name);
    agents.push(one);
    return one;
  }

  function watch(): void {
    watches.push(hub.watch());
  }

  beforeEach(() => {
    folder = socketFolder();
    logged.length = 0;
    hub = new SessionHub({ client: 'test', hz: 10, log: (line) => logged.push(line), folders: [folder.path] });
  });

  afterEach(async () => {
    for (const one of watches.splice(0)) one.dispose();
    for (const one of agents.splice(0)) await one.close();
    folder.remove();
  });

  it('greets, subscribes and hears samples, steps and the life cycle', async () => {
    const fake = await agent();
    watch();
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    await vi.waitFor(
      () => expect(fake.requests.map((request) => request.method)).toEqual(['hello', 'subscribe']),
      patience,
    );
    expect(fake.requests[1]?.params).toEqual({ hz: 10 });
    const [session] = hub.sessions;
    expect(session).toMatchObject({ state: 'training', step: 7, name: 'train.py', scriptPath: '/work/train.py' });

    await fake.notify('sample', exampleSample);
    await fake.notify('step', { timeMs: exampleSample.timeMs, step: 8, usedBytes: 1000 });
    await fake.notify('lifecycle', { timeMs: exampleSample.timeMs, state: 'idle' });
    await vi.waitFor(() => expect(session?.state).toBe('idle'), patience);
    expect(session?.step).toBe(8);
    expect(session?.sums()).toMatchObject({ usedBytes: 1000, reservedBytes: 4096, releasableBytes: 2496 });
  });

  it('holds no connection while nobody watches, and shares one among watchers', async () => {
    const fake = await agent();
    expect(fake.requests).toHaveLength(0);
    watch();
    watch();
    await vi.waitFor(() => expect(fake.clients).toBe(1), patience);
    watches.pop()?.dispose();
    await fake.notify('sample', exampleSample);
    await vi.waitFor(() => expect(hub.sessions[0]?.samples.size).toBe(1), patience);
    expect(fake.clients).toBe(1);
    watches.pop()?.dispose();
    await vi.waitFor(() => expect(fake.clients).toBe(0), patience);
  });

  it('connects again when the connection breaks, as the same session', async () => {
    const fake = await agent();
    watch();
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    const [before] = hub.sessions;
    fake.disconnect();
    await vi.waitFor(() => expect(fake.requests.filter(({ method }) => method === 'hello')).toHaveLength(2), patience);
    await vi.waitFor(() => expect(fake.clients).toBe(1), patience);
    expect(hub.sessions).toEqual([before]);
    expect(before?.exit).toBeNull();
  });

  it.each([
    ['another shape', { pid: 'x' }, 'greeting'],
    ['another protocol', exampleHello({ protocol: 99 }), 'protocol 99'],
  ])('ignores a session that answers with %s, and says so once', async (_name, hello, words) => {
    const fake = await agent({ hello });
    watch();
    await vi.waitFor(() => expect(logged).toHaveLength(1), patience);
    expect(logged[0]).toContain(words);
    const asked = fake.requests.length;
    // A second session's greeting proves that the hub went on looking in the meantime.
    const child = spawn('sleep', ['60']);
    try {
      await agent({ hello: exampleHello({ pid: child.pid ?? 0 }) }, socketName(child.pid ?? 0));
      await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    } finally {
      child.kill();
    }
    expect(fake.requests).toHaveLength(asked);
    expect(logged).toHaveLength(1);
  });

  it('drops a malformed sample, says so once, and keeps the session', async () => {
    const fake = await agent();
    watch();
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    await fake.notify('sample', { ...exampleSample, usedBytes: -1 });
    await fake.notify('sample', { ...exampleSample, usedBytes: '1' });
    await fake.notify('sample', { ...exampleSample, usedBytes: 42 });
    await vi.waitFor(() => expect(hub.sessions[0]?.sums().usedBytes).toBe(42), patience);
    expect(logged).toHaveLength(1);
  });

  it.each([
    ['normal', true],
    ['killed', false],
  ])('ends a session as "%s" when its process is gone', async (exit, saysSo) => {
    const child = spawn('sleep', ['60']);
    const pid = child.pid ?? 0;
    const fake = await agent({ hello: exampleHello({ pid }) }, socketName(pid));
    watch();
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    await fake.notify('sample', exampleSample);
    if (saysSo) await fake.notify('lifecycle', { timeMs: exampleSample.timeMs, state: 'ended' });
    await vi.waitFor(() => expect(hub.sessions[0]?.samples.size).toBe(1), patience);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    await fake.close();
    await vi.waitFor(() => expect(hub.sessions[0]?.exit).toBe(exit), patience);
    expect(hub.sessions[0]?.sums().usedBytes).toBe(0);
  });

  it('marks a session that says nothing as silent, and takes the mark back', async () => {
    const fake = await agent();
    watch();
    await vi.waitFor(() => expect(hub.sessions[0]?.silentSinceMs).toBeTypeOf('number'), patience);
    await fake.notify('sample', exampleSample);
    await vi.waitFor(() => expect(hub.sessions[0]?.silentSinceMs).toBeNull(), patience);
  });

  it('leaves sockets of other hosts, boots and dead processes alone', async () => {
    const mine = socketName(process.pid);
    const others = [
      mine.replace(/^.{8}/, '01234567'),
      mine.replace(/^(.{8}-)[0-9a-f]+/, '$101234567'),
      // A PID that was used again: another start time.
      mine.replace(/-\d+\.sock$/, '-1.sock'),
    ];
    const fakes = [];
    for (const name of others) fakes.push(await agent({}, name));
    await agent();
    watch();
    await hub.settled(patience.timeout);
    expect(hub.sessions).toHaveLength(1);
    for (const fake of fakes) expect(fake.requests).toHaveLength(0);
  });

  it('frees the cache with the token from beside the socket', async () => {
    const device = {
      index: 0,
      reservedBeforeBytes: 4096,
      reservedAfterBytes: 1600,
      returnedBytes: 2496,
      strandedBytes: 500,
      usedBytes: 1000,
    };
    const freeCache = { done: true, where: 'afterStep', collected: true, devices: [device] };
    const fake = await agent({ freeCache });
    watch();
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    const session = hub.sessions[0]!;
    const answer = hub.freeCache(session);
    expect(session.freeing).toBe(true);
    expect(await answer).toEqual(freeCache);
    expect(session).toMatchObject({ freeing: false, freed: { result: freeCache } });
    expect(fake.requests.at(-1)).toEqual({ method: 'freeCache', params: { token: 'secret' } });
  });

  it('says that it failed when the session closes before it answers', async () => {
    const fake = await agent({ freeCache: new Promise(() => undefined) });
    watch();
    await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), patience);
    const answer = hub.freeCache(hub.sessions[0]!);
    await vi.waitFor(() => expect(fake.requests.at(-1)?.method).toBe('freeCache'), patience);
    fake.disconnect();
    expect(await answer).toMatchObject({ done: false, reason: 'failed' });
  });
});
