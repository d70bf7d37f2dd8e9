import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DriverWatch } from '../../src/probe/driverWatch';
import { ProbeClient } from '../../src/probe/probeClient';
import { DeviceBoard } from '../../src/sessions/deviceBoard';
import { panelState } from '../../src/sessions/panelState';
import { SessionHub } from '../../src/sessions/sessionHub';
import type { DriverReading } from '../../src/shared/driverReading';
import { ledgerParts } from '../../src/shared/ledger';
import { exampleHello, exampleSample, FakeAgent, socketFolder, socketName } from '../unit/sessions/fakeAgent';
import { FakeDriver, twoDevices } from './fakeDriver';

const dist = path.resolve(__dirname, '../../dist');
const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

describe('the probe process', () => {
  let driver: FakeDriver;
  let probe: ProbeClient;
  const log: string[] = [];

  beforeEach(() => {
    driver = new FakeDriver();
    for (const [name, value] of Object.entries(driver.environment)) vi.stubEnv(name, value);
    probe = new ProbeClient(path.join(dist, 'probe.js'), (message) => log.push(message), 3000);
  });
  afterEach(() => {
    probe.close();
    vi.unstubAllEnvs();
    driver.remove();
    log.length = 0;
  });

  it('reads both devices, their memory as it changes, and names a process', async () => {
    driver.say(...twoDevices, `process 0 ${process.pid} ${2 * GiB} compute`, `process 1 4194301 ${GiB} compute`);
    const first = await probe.read(true);
    expect(first.driver).toEqual({ state: 'ok', version: '999.00.fake', code: 0 });
    expect(first.devices.map((device) => [device.uuid, device.name, device.totalBytes])).toEqual([
      ['GPU-aaaa', 'Fake RTX 4090', 24 * GiB],
      ['GPU-bbbb', 'Fake A100', 80 * GiB],
    ]);
    expect(first.devices[0]).toMatchObject({
      ...{ usedBytes: 10 * GiB, driverReservedBytes: GiB / 2, freeBytes: 13.5 * GiB },
      processes: [{ pid: process.pid, usedBytes: 2 * GiB, gone: false }],
    });
    const [own] = first.devices[0]?.processes as { name: string; command: string; user: string }[];
    expect(own?.command).toContain('vitest');
    expect(own?.user).not.toBeNull();
    // The highest PID Linux gives is 4194304; this one is free.
    expect(first.devices[1]?.processes).toMatchObject([{ pid: 4194301, name: null, gone: true }]);
    driver.say((twoDevices[0] ?? '').replace(String(10 * GiB), String(11 * GiB)));
    const second = await probe.read(false);
    expect(second.devices.map((device) => device.usedBytes)).toEqual([11 * GiB]);
  });

  it('says so when the driver hangs, waits, and reads again', async () => {
    expect((await probe.read(true)).driver.state).toBe('ok');
    driver.say(...twoDevices, 'hang Memory_v2');
    expect((await probe.read(true)).driver.state).toBe('notAnswering');
    expect(log.join()).toContain('has not answered');
    driver.say(...twoDevices);
    await vi.waitFor(async () => expect((await probe.read(true)).driver.state).toBe('ok'), { timeout: 20_000 });
  });

  it('survives a crash inside the driver', async () => {
    driver.say(...twoDevices, 'abort Count');
    expect((await probe.read(true)).driver.state).toBe('notAnswering');
    driver.say(...twoDevices);
    await vi.waitFor(async () => expect((await probe.read(true)).driver.state).toBe('ok'), { timeout: 20_000 });
  });

  it.each([
    ['absent', 'code Init 9'],
    ['mismatch', 'code Init 18'],
    ['unknown', 'code Init 999'],
  ])('calls the driver %s when it answers "%s"', async (state, line) => {
    driver.say(line);
    expect(await probe.read(true)).toMatchObject({ driver: { state }, devices: [] });
    // Answered again without asking again: its next try waits.
    driver.say(...twoDevices);
    expect(await probe.read(true)).toMatchObject({ driver: { state }, devices: [] });
    await vi.waitFor(async () => expect((await probe.read(true)).driver.state).toBe('ok'), { timeout: 20_000 });
  });

  it('reads again and again while watched, and ends with the watch', async () => {
    const watch = new DriverWatch(probe, () => undefined);
    watch.start();
    await vi.waitFor(() => expect(watch.newest?.devices[0]?.usedBytes).toBe(10 * GiB), { timeout: 20_000 });
    driver.say((twoDevices[0] ?? '').replace(String(10 * GiB), String(12 * GiB)));
    await vi.waitFor(() => expect(watch.newest?.devices[0]?.usedBytes).toBe(12 * GiB), { timeout: 20_000 });
    watch.stop();
  });

  it("brings the driver's view into the panel's ledger, which sums to the total", async () => {
    const folder = socketFolder();
    const child = spawn('sleep', ['120']);
    const pid = child.pid ?? 0;
    const hello = exampleHello({
      ...{ pid, simulated: null },
      // torch prints the UUID without the prefix.
      devices: [{ index: 0, uuid: 'aaaa', name: 'Fake RTX 4090', totalBytes: 24 * GiB }],
    });
    const agent = await FakeAgent.listen(folder.path, { hello }, socketName(pid));
    const hub = new SessionHub({ client: 'test', hz: 10, log: () => undefined, folders: [folder.path] });
    const board = new DeviceBoard(hub);
    const watching = hub.watch();
    try {
      await vi.waitFor(() => expect(hub.sessions).toHaveLength(1), { timeout: 15_000 });
      const memory = { usedBytes: 5 * GiB, reservedBytes: 6 * GiB, activeBytes: 5 * GiB, pendingBytes: 0 };
      await agent.notify('sample', {
        ...exampleSample,
        ...memory,
        strandedBytes: GiB / 4,
        releasableBytes: GiB * 0.75,
      });
      driver.say(...twoDevices, `process 0 ${pid} ${6 * GiB + 300 * MiB} compute`, `process 0 1 ${2 * GiB} graphics`);
      const reading: DriverReading = await probe.read(true);
      await vi.waitFor(() => expect(board.views(reading)[0]?.ledger.used).toBe(5 * GiB), { timeout: 15_000 });
      const state = panelState(hub.sessions, board, { state: 'ok', lookedFor: [] }, reading, Date.now());
      expect(state.devices.map((device) => device.key)).toEqual(['aaaa', 'bbbb']);
      expect(state.devices[0]?.ledger).toEqual({
        ...{ totalBytes: 24 * GiB, used: 5 * GiB, pending: 0, stranded: GiB / 4, releasable: GiB * 0.75 },
        ...{ free: 13.5 * GiB, outside: 300 * MiB, others: 2 * GiB, driverReserved: GiB / 2 },
        unattributed: 10 * GiB - 6 * GiB - 300 * MiB - 2 * GiB,
      });
      for (const { ledger } of state.devices) {
        expect(ledgerParts.reduce((sum, part) => sum + (ledger[part] ?? NaN), 0)).toBe(ledger.totalBytes);
      }
      expect(state.processes).toMatchObject([{ pid: 1, deviceKey: 'aaaa', usedBytes: 2 * GiB }]);
    } finally {
      watching.dispose();
      board.dispose();
      child.kill('SIGKILL');
      await agent.close();
      folder.remove();
    }
  });
});

describe('vram-lens devices', () => {
  const run = (
    env: Record<string, string>,
    ...args: string[]
  ): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [path.join(dist, 'cli.js'), 'devices', ...args], {
      encoding: 'utf8',
      env: { ...process.env, VRAM_LENS_LANG: 'en', ...env },
      timeout: 30_000,
    });

  it('prints what the driver says', () => {
    const driver = new FakeDriver();
    driver.say(...twoDevices, 'code Memory_v2 999', `process 0 ${process.pid} ${GiB} compute`);
    const { status, stdout } = run(driver.environment, '--format', 'json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      driver: { state: 'ok', version: '999.00.fake' },
      devices: [
        {
          ...{ uuid: 'GPU-aaaa', name: 'Fake RTX 4090', parentUuid: null, usedBytes: 10.5 * GiB },
          driverReservedBytes: { absent: 'notSupported' },
          processes: [{ pid: process.pid, usedBytes: GiB, session: false, gone: false }],
        },
        { uuid: 'GPU-bbbb', processes: [] },
      ],
    });
    expect(run(driver.environment).stdout).toContain('10.5 GiB used, 13.5 GiB free, not said driver reserved');
    driver.remove();
  });

  it('is calm without a driver', () => {
    const { status, stdout } = run({ VRAM_LENS_NVML: '/nowhere/libnvidia-ml.so.1' });
    expect([status, stdout]).toEqual([0, expect.stringContaining('There is no NVIDIA driver on this machine.')]);
  });

  it('says what to do after an update of the driver', () => {
    const driver = new FakeDriver();
    driver.say('code Init 18');
    const { status, stderr } = run(driver.environment);
    expect([status, stderr]).toEqual([2, expect.stringContaining('restart the machine')]);
    driver.remove();
  });
});
