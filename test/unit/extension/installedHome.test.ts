import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installHome } from '../../../src/extension/installedHome';

describe('installHome', () => {
  let base: string;
  let dist: string;
  let storage: string;

  beforeEach(() => {
    base = mkdtempSync(path.join(os.tmpdir(), 'vl-'));
    dist = path.join(base, 'dist with space');
    storage = path.join(base, 'storage');
    mkdirSync(path.join(dist, 'agent/package'), { recursive: true });
    mkdirSync(path.join(dist, 'simulator'));
    writeFileSync(path.join(dist, 'agent/package/a.py'), 'one');
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  const installed = (home: string): string => readFileSync(path.join(home, 'agent/package/a.py'), 'utf8');

  it('keeps its path over an update, with the new content, and leaves one copy', async () => {
    const home = await installHome(dist, storage);
    expect(installed(home)).toBe('one');
    writeFileSync(path.join(dist, 'agent/package/a.py'), 'two and more');
    expect(await installHome(dist, storage)).toBe(home);
    expect(installed(home)).toBe('two and more');
    expect(readdirSync(storage)).toHaveLength(2);
  });

  it('copies nothing when nothing changed', async () => {
    const home = await installHome(dist, storage);
    writeFileSync(path.join(home, 'agent/package/mark'), '');
    await installHome(dist, storage);
    expect(readdirSync(path.join(home, 'agent/package'))).toContain('mark');
  });

  it('survives two windows at once', async () => {
    const homes = await Promise.all(Array.from({ length: 4 }, () => installHome(dist, storage)));
    expect(new Set(homes).size).toBe(1);
    expect(installed(homes[0]!)).toBe('one');
    expect(readdirSync(storage)).toHaveLength(2);
  });

  it('says so when it cannot write', async () => {
    writeFileSync(storage, 'a file where the folder should be');
    await expect(installHome(dist, storage)).rejects.toThrow();
  });
});
