import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Script } from './script';

const start = 'scripts/start.mjs';
const python = process.env['VRAM_LENS_PYTHON'] ?? 'python3';
let script: Script;
afterEach(() => script.killAll());

/** Runs `use` with an executable shell script in place of the Python. */
async function withFakePython(lines: string, use: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'vram-lens-python-'));
  const file = path.join(folder, 'python');
  writeFileSync(file, `#!/bin/sh\n${lines}\n`);
  chmodSync(file, 0o755);
  try {
    await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const oneLine = (text: string): string => {
  expect(text.trimEnd().split('\n')).toHaveLength(1);
  return text;
};

it('says what it can do', async () => {
  script = new Script([start, '--help']);
  expect(await script.code()).toBe(0);
  for (const option of ['--simulate', '--leak', '--steps', '--port', '--no-editor']) {
    expect(script.output).toContain(option);
  }
});

it.each([
  [['--colour'], '--colour'],
  [['--steps', 'many'], 'whole number'],
  [['--port', '70000'], '65535'],
])('answers %j with one sentence', async (options, words) => {
  script = new Script([start, ...options]);
  expect(await script.code()).toBe(1);
  expect(oneLine(script.output)).toContain(words);
});

it('says in one sentence that the port is busy', async () => {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  script = new Script([start, '--port', String(port)]);
  expect(await script.code()).toBe(1);
  expect(oneLine(script.output)).toContain(`Port ${port} is busy`);
  server.close();
});

it('says in one sentence that the given Python has no torch', async () => {
  await withFakePython('exit 1', async (file) => {
    script = new Script([start, '--no-editor'], { VRAM_LENS_PYTHON: file });
    expect(await script.code()).toBe(1);
    expect(oneLine(script.output)).toContain('no Python with PyTorch');
  });
});

it('says in one sentence that there is no compiler for the simulated device', async () => {
  script = new Script([start, '--no-editor', '--simulate', '8GiB'], { PATH: '/nowhere', CXX: '' });
  expect(await script.code()).toBe(1);
  expect(oneLine(script.output)).toContain('no C++ compiler');
});

it('shows the last lines of a training that crashes, and ends', async () => {
  const lines = `case "$*" in *train.py*) echo "it went wrong here" >&2; exit 3;; esac\nexec "${python}" "$@"`;
  await withFakePython(lines, async (file) => {
    script = new Script([start, '--no-editor', '--simulate', '8GiB'], { VRAM_LENS_PYTHON: file });
    expect(await script.code()).toBe(1);
    expect(script.output).toContain('samples/train.py ended with code 3');
    expect(script.output).toContain('it went wrong here');
    expect(await script.leftBehind()).toEqual([]);
  });
});

it('opens VS Code, trains, and stops all of it at Ctrl-C', async () => {
  script = new Script([start, '--simulate', '8GiB']);
  await script.says('VS Code: http');
  const url = /VS Code: (\S+)/.exec(script.output)?.[1];
  expect((await fetch(url ?? '')).status).toBe(200);
  await script.says('train.py trains on a simulated GPU of 8GiB');
  await script.says('Simulated GPU (simulated)');
  script.signal('SIGINT');
  await script.code();
  expect(await script.leftBehind()).toEqual([]);
});
