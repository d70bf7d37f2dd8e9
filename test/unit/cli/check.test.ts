import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const cli = path.resolve(__dirname, '../../../dist/cli.js');

/** The `é` and the emoji before the finding are one code point each, though not one code unit. */
const leak = (tail: string): string =>
  [
    'import torch',
    'model, total = torch.nn.Linear(2, 2), 0',
    'for x in loader:',
    '    "é🙂"; total += model(x).mean()',
    tail,
    '',
  ].join('\n');

describe('vram-lens check', () => {
  let folder: string;
  const file = (): string => path.join(folder, 'train.py');
  const check = (args: string[], input = ''): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [cli, 'check', ...args], {
      input,
      encoding: 'utf8',
      env: { ...process.env, VRAM_LENS_LANG: 'en' },
    });

  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'vl-check-'));
    writeFileSync(file(), leak('print(float(total))'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('says what it found, where and why, as JSON', () => {
    const { status, stdout } = check([file(), '--format', 'json']);
    expect(status).toBe(1);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ version: 1, files: 1, linesAnalysed: 5, skipped: [] });
    expect(result.findings).toHaveLength(1);
    expect(result.findings[0]).toMatchObject({
      ...{ file: file(), cell: null, line: 4, column: 11, endLine: 4, endColumn: 35 },
      ...{ rule: 'graph-summed', severity: 'error' },
      fixes: [
        {
          safe: true,
          edits: [{ startLine: 4, startColumn: 35, endLine: 4, endColumn: 35, newText: '.item()' }],
        },
        { safe: true, edits: [{ newText: '.detach()' }] },
      ],
    });
    expect(result.findings[0].chain.map((reason: { line: number }) => reason.line)).toEqual([4, 2, 3, 4]);
  });

  it('applies what is safe, and says nothing is left', () => {
    const { status, stdout } = check([folder, '--fix']);
    expect([status, stdout]).toEqual([0, 'No findings.\n']);
    expect(readFileSync(file(), 'utf8')).toContain('total += model(x).mean().item()\n');
  });

  it('applies nothing else without being told', () => {
    const source = leak('print(total)');
    writeFileSync(file(), source);
    expect(check([file(), '--fix']).status).toBe(1);
    expect(readFileSync(file(), 'utf8')).toBe(source);
    expect(check([file(), '--diff', '--unsafe-fixes']).stdout).toContain('+    "é🙂"; total += model(x).mean().item()');
    expect(readFileSync(file(), 'utf8')).toBe(source);
    expect(check([file(), '--fix', '--unsafe-fixes']).status).toBe(0);
  });

  it('reads standard input, selects and ignores rules, and can always exit with 0', () => {
    expect(check(['-'], leak('')).stdout).toContain('-:4:11: error [graph-summed]');
    expect(check([file(), '--ignore', 'graph-summed']).status).toBe(0);
    expect(check([file(), '--select', 'graph-appended']).status).toBe(0);
    expect(check([file(), '--exit-zero'])).toMatchObject({ status: 0, stdout: expect.stringContaining('1 finding.') });
  });

  it('skips what is no text, and survives what is no Python', () => {
    writeFileSync(file(), 'import torch\0');
    expect(check([file()])).toMatchObject({ status: 2, stderr: expect.stringContaining('NUL') });
    const latin = Buffer.from(leak('print(float(total))  # \u00e9'), 'latin1');
    writeFileSync(file(), latin);
    expect(check([file(), '--fix'])).toMatchObject({ status: 2, stderr: expect.stringContaining('UTF-8') });
    expect(readFileSync(file())).toEqual(latin);
    writeFileSync(file(), 'import torch\ndef (((:\n  total += ');
    expect(check([file()]).status).toBe(0);
    writeFileSync(file(), `import torch\nx = ${'('.repeat(20_000)}1${')'.repeat(20_000)}\n`);
    expect(check([file()]).status).toBe(0);
  });
});
