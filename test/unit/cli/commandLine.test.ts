import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { exampleHello, exampleSample, FakeAgent } from '../sessions/fakeAgent';

const root = path.resolve(import.meta.dirname, '../../..');
const patience = { timeout: 20_000, interval: 50 };

interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

describe('vram-lens', () => {
  let base: string;
  let cli: string;
  let runtime: string;
  const agents: FakeAgent[] = [];

  beforeAll(async () => {
    base = mkdtempSync(path.join(os.tmpdir(), 'vl-'));
    cli = path.join(base, 'dist/cli.js');
    await esbuild.build({
      entryPoints: [path.join(root, 'src/cli/main.ts')],
      outfile: cli,
      ...{ bundle: true, platform: 'node', target: 'node20', format: 'cjs' },
    });
    mkdirSync(path.join(base, 'l10n'));
    copyFileSync(path.join(root, 'l10n/bundle.l10n.zh-cn.json'), path.join(base, 'l10n/bundle.l10n.zh-cn.json'));
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  beforeEach(() => {
    runtime = mkdtempSync(path.join(base, 'r'));
    mkdirSync(path.join(runtime, 'vram-lens'), { mode: 0o700 });
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close();
  });

  async function agent(answers: Record<string, unknown> = {}): Promise<FakeAgent> {
    const one = await FakeAgent.listen(path.join(runtime, 'vram-lens'), answers);
    agents.push(one);
    return one;
  }

  function start(
    args: string[],
    env: NodeJS.ProcessEnv = {},
  ): { child: ReturnType<typeof spawn>; outcome: Promise<Outcome> } {
    const plain = { PATH: process.env['PATH'], XDG_RUNTIME_DIR: runtime, ...env };
    const child = spawn(process.execPath, [cli, ...args], { env: plain, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const outcome = new Promise<Outcome>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
    return { child, outcome };
  }

  const run = (args: string[], env?: NodeJS.ProcessEnv): Promise<Outcome> => start(args, env).outcome;

  it.each([
    [['frobnicate'], 'frobnicate'],
    [['check', 'nowhere.py'], 'is not there'],
    [['check'], 'Which file'],
    [['check', '--select', 'nonsense', 'a.py'], 'There is no rule'],
    [['watch', '--hz', 'fast'], '--hz'],
    [['watch', '--pid', '999999999'], '999999999'],
    [['watch', '--record', '/nowhere/file'], '/nowhere/file'],
    [['run', 'python'], '--'],
    [['run', '--', '/nowhere/program'], '/nowhere/program'],
    [['run', '--simulate', '24GB', '--', 'true'], '24GiB'],
    [['simulate', '/nowhere/train.py'], '/nowhere/train.py'],
    [['simulate', '--python', '/nowhere/python', import.meta.filename], '/nowhere/python'],
    [['free', '--all', '--pid', '1'], '--all'],
    [['free'], 'No training session'],
  ])('%j ends with exit code 2 and one sentence', async (args, words) => {
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(words);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it.each(['run', 'env', 'simulate', 'watch', 'free'])('%s --help shows an example', async (command) => {
    const { code, stdout } = await run([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Example:\n {2}\S/);
  });

  it('speaks Simplified Chinese where the user does', async () => {
    expect((await run(['free'], { LANG: 'zh_CN.UTF-8' })).stderr).toContain('没有带显存代理的训练会话');
    expect((await run(['free'], { LANG: 'zh_CN.UTF-8', VRAM_LENS_LANG: 'en' })).stderr).toContain(
      'No training session',
    );
  });

  it('run hands over streams, environment and exit code', async () => {
    const script = 'echo "$PYTHONPATH|$VRAM_LENS_SIMULATE"; echo own >&2; exit 7';
    const { code, stdout, stderr } = await run(['run', '--simulate', '1GiB', '--quiet', '--', 'sh', '-c', script]);
    expect(code).toBe(7);
    const dist = path.dirname(cli);
    expect(stdout).toBe(`${dist}/agent:${dist}/simulator|1073741824\n`);
    expect(stderr).toBe('own\n');
  });

  it('run dies of the signal its command died of, and passes signals on', async () => {
    expect(await run(['run', '--', 'sh', '-c', 'kill -KILL $$'])).toMatchObject({ signal: 'SIGKILL' });
    const { child, outcome } = start([
      'run',
      '--',
      'sh',
      '-c',
      'trap "exit 5" TERM; echo ready; while :; do sleep 0.1; done',
    ]);
    await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
    child.kill('SIGTERM');
    expect((await outcome).code).toBe(5);
  });

  it('watch prints JSON lines of a session, records them, and ends quietly at Ctrl-C', async () => {
    const record = path.join(runtime, 'record.jsonl');
    const { child, outcome } = start(['watch', '--format', 'jsonl', '--record', record]);
    const fake = await agent();
    await vi.waitFor(() => expect(fake.requests).toHaveLength(2), patience);
    await fake.notify('sample', exampleSample);
    await fake.notify('step', { timeMs: exampleSample.timeMs, step: 9, usedBytes: 1000 });
    await fake.notify('lifecycle', { timeMs: exampleSample.timeMs, state: 'idle' });
    await vi.waitFor(() => expect(readFileSync(record, 'utf8')).toContain('"idle"'), patience);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await outcome;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const kinds = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds).toEqual(['session', 'sample', 'step', 'lifecycle']);
    expect(readFileSync(record, 'utf8')).toBe(stdout);
  });

  it('watch ends quietly when its reader goes away', async () => {
    const fake = await agent();
    const { child, outcome } = start(['watch', '--format', 'jsonl']);
    await vi.waitFor(() => expect(fake.requests).toHaveLength(2), patience);
    child.stdout?.destroy();
    const more = setInterval(() => void fake.notify('sample', exampleSample), 20);
    const { code, stderr } = await outcome;
    clearInterval(more);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('watch --for ends by itself', async () => {
    expect(await run(['watch', '--for', '0.2'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('free prints the answer with its sentence; a refusal is exit code 1', async () => {
    const device = {
      ...{ index: 0, reservedBeforeBytes: 9, reservedAfterBytes: 1, usedBytes: 2.6 * 1024 ** 3 },
      ...{ returnedBytes: 1.2 * 1024 ** 3, strandedBytes: 0.3 * 1024 ** 3 },
    };
    for (const name of ['usedBytes', 'returnedBytes', 'strandedBytes'] as const)
      device[name] = Math.round(device[name]);
    await agent({ freeCache: { done: true, where: 'afterStep', collected: true, devices: [device] } });
    const { code, stdout } = await run(['free', '--format', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ...{ pid: process.pid, done: true, where: 'afterStep', collected: true, devices: [device] },
      message:
        'Returned 1.2 GiB to the driver. 0.3 GiB is stranded in partly used segments; 2.6 GiB is held by live tensors.',
    });
    await agents.pop()?.close();

    await agent({ freeCache: { done: false, reason: 'capture', message: 'x' }, hello: exampleHello() });
    const refused = await run(['free', '--all', '--format', 'json']);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject([{ pid: process.pid, done: false, reason: 'capture' }]);
  });
});
