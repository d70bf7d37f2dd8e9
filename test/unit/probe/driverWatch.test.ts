import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DriverWatch } from '../../../src/probe/driverWatch';
import { ProbeClient } from '../../../src/probe/probeClient';
import type { DriverReading } from '../../../src/shared/driverReading';

const reading: DriverReading = { driver: { state: 'ok', version: null, code: 0 }, devices: [] };

describe('DriverWatch', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reads on one line only, also when it is stopped and started during a reading', async () => {
    const answers: ((reading: DriverReading) => void)[] = [];
    const read = vi.fn(() => new Promise<DriverReading>((resolve) => answers.push(resolve)));
    const watch = new DriverWatch({ read, close: vi.fn() }, () => undefined);
    watch.start();
    watch.stop();
    watch.start();
    expect(read).toHaveBeenCalledTimes(2);
    for (const answer of answers) answer(reading);
    await vi.advanceTimersByTimeAsync(1000);
    expect(read).toHaveBeenCalledTimes(3);
    watch.stop();
  });
});

describe('ProbeClient', () => {
  it('says that the addon is missing, and goes on saying it until the next try', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'vl-probe-'));
    const script = path.join(folder, 'probe.js');
    writeFileSync(script, "process.on('message', ({ id }) => process.send({ id, failure: 'no such file' }));");
    vi.stubEnv('VRAM_LENS_NVML', '/nowhere');
    const log: string[] = [];
    const probe = new ProbeClient(script, (message) => log.push(message));
    expect((await probe.read(true)).driver.state).toBe('unknown');
    expect((await probe.read(true)).driver.state).toBe('unknown');
    expect(log).toEqual(['The GPU probe cannot be loaded: no such file']);
    probe.close();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
});
