import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { root } from './script';

const preCommit = process.env['VRAM_LENS_PRE_COMMIT'] ?? 'pre-commit';
const leak =
  'import torch\ntotal = 0\nnet = torch.nn.Linear(2, 2)\nfor x in loader:\n    total += net(x).mean()\nprint(total)\n';
let base: string;

beforeEach(() => {
  base = mkdtempSync(path.join(os.tmpdir(), 'vl-hook-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
    ...{ cwd: folder, encoding: 'utf8', maxBuffer: 1e8 },
  });

/** This repository as it lies here, committed. */
function repository(): string {
  const folder = path.join(base, 'hook');
  const files = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0');
  for (const file of files.filter((one) => one !== '' && existsSync(path.join(root, one)))) {
    cpSync(path.join(root, file), path.join(folder, file), { recursive: true });
  }
  commit(folder);
  return folder;
}

function commit(folder: string): void {
  git(folder, 'init', '--quiet');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'test');
}

/** Commands in the place of compilers: each notes its name and fails. */
function withoutCompiler(): { PATH: string; called: string } {
  const folder = path.join(base, 'stubs');
  const called = path.join(base, 'called');
  mkdirSync(folder);
  writeFileSync(called, '');
  for (const name of ['cc', 'gcc', 'c++', 'g++', 'clang', 'clang++', 'make', 'ninja', 'cmake']) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\necho ${name} >> ${called}\nexit 127\n`);
    chmodSync(path.join(folder, name), 0o755);
  }
  return { PATH: `${folder}${path.delimiter}${process.env['PATH']}`, called };
}

it('installs and runs as a hook where there is no compiler', () => {
  const hook = repository();
  const work = path.join(base, 'work');
  mkdirSync(work);
  writeFileSync(path.join(work, 'train.py'), leak);
  writeFileSync(path.join(work, 'note.txt'), leak);
  commit(work);
  const { PATH, called } = withoutCompiler();
  const run = (): { status: number | null; stdout: string } =>
    spawnSync(preCommit, ['try-repo', hook, 'vram-lens', '--all-files'], {
      ...{ cwd: work, encoding: 'utf8' },
      env: { ...process.env, PATH, PRE_COMMIT_HOME: path.join(base, 'home'), VRAM_LENS_LANG: 'en' },
    });
  const found = run();
  expect(found.stdout).toContain('train.py:5:5: error [graph-summed]');
  expect(found.stdout).not.toContain('note.txt');
  expect(found.status).toBe(1);
  expect(readFileSync(called, 'utf8')).toBe('');

  writeFileSync(path.join(work, 'train.py'), leak.replace('mean()', 'mean().item()'));
  git(work, 'add', '--all');
  expect(run().status).toBe(0);
});
