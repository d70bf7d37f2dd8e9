import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeDriver } from './fakeDriver';

const root = path.resolve(__dirname, '../..');

describe('the NVML reader, under the address and undefined-behaviour sanitizers', () => {
  let driver: FakeDriver;
  beforeAll(() => {
    driver = new FakeDriver();
  });
  afterAll(() => driver.remove());

  it('reads every answer of the fake driver', () => {
    const program = path.join(driver.folder, 'reader_test');
    const sources = ['library', 'memory', 'processes', 'reader'].map((name) => `native/nvml/${name}.cc`);
    const flags = [
      '-std=c++20',
      '-g',
      '-O1',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-fsanitize=address,undefined',
      '-Inative',
    ];
    const files = ['test/native/reader_test.cc', ...sources, '-o', program, '-ldl'];
    const built = spawnSync('c++', [...flags, '-fno-sanitize-recover=all', ...files], { cwd: root, encoding: 'utf8' });
    expect(built.stderr).toBe('');
    const ran = spawnSync(program, [driver.library], {
      encoding: 'utf8',
      env: { ...process.env, ...driver.environment },
    });
    expect(ran.stdout + ran.stderr).toMatch(/^\d+ checks, 0 failed\n$/);
    expect(ran.status).toBe(0);
  });
});
