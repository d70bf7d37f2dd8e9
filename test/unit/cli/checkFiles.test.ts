import { chmodSync, readFileSync, readdirSync, statSync, symlinkSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckFolder, leak, notebookOf } from './checkFolder';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
});
afterEach(() => folder.remove());

describe('the files that are checked', () => {
  it('are those of a folder, without what is installed, hidden or ignored', () => {
    for (const file of ['b.py', 'a/a.py', 'a/kept.py', 'build/c.py']) folder.write(file, leak);
    for (const file of [
      'env/lib/x.py',
      'node_modules/x.py',
      '.hidden/x.py',
      'site-packages/x.py',
      'a/.x.py',
      'a/no.py',
    ])
      folder.write(file, leak);
    folder.write('env/pyvenv.cfg', '');
    folder.write('.git/HEAD', '');
    folder.write('.git/info/exclude', 'secret/\n');
    folder.write('secret/x.py', leak);
    folder.write('.gitignore', 'no.py\nkept.py\nout/\n');
    folder.write('a/.gitignore', '!kept.py\n');
    folder.write('out/x.py', leak);
    symlinkSync(folder.path, path.join(folder.path, 'a/loop'));
    expect(folder.found(['.'])).toEqual(['a/a.py', 'a/kept.py', 'b.py', 'build/c.py']);
    // Named, they are checked; inside them the same is left out.
    expect(folder.found(['out', 'a/no.py', 'env/lib', 'b.py', './b.py'])).toEqual([
      ...['out/x.py', 'a/no.py', 'env/lib/x.py', 'b.py'],
    ]);
  });

  it('are as the table in pyproject.toml says', () => {
    folder.write('pyproject.toml', '[tool.vram-lens]\nexclude = ["old/", "*_gen.py"]\nignroe = ["x"]\n');
    for (const file of ['old/a.py', 'a_gen.py', 'a.py']) folder.write(file, leak);
    expect(folder.found(['.'])).toEqual(['a.py']);
    const named = folder.check(['a_gen.py']);
    expect(named.status).toBe(0);
    expect(named.stderr).toContain('a_gen.py: skipped: excluded in');
    expect(named.stderr).toContain('knows no "ignroe"');
    folder.write('sub/pyproject.toml', '[tool.vram-lens]\nignore = ["graph-summed"]\n');
    folder.write('sub/a.py', leak);
    expect(folder.found(['.'])).toEqual(['a.py']);
    expect(folder.found(['.', '--ignore', ''])).toEqual(['a.py', 'sub/a.py']);
    folder.write('pyproject.toml', '[tool.vram-lens]\nselect = "graph-summed"\n');
    expect(folder.check(['a.py'])).toMatchObject({ status: 2, stderr: expect.stringContaining('list of strings') });
    folder.write('pyproject.toml', '[tool.vram-lens\n');
    expect(folder.check(['a.py'])).toMatchObject({ status: 2, stderr: expect.stringContaining('no TOML') });
  });

  it('are named when they cannot be read, and the exit code tells', () => {
    folder.write('a/binary.py', 'import torch\0');
    folder.write('a/latin.py', Buffer.from(`${leak}# \u00e9`, 'latin1'));
    folder.write('a/unknown.py', `# coding: klingon\n${leak}`);
    folder.write('a/broken.ipynb', '{"cells": [\n');
    folder.write('a/julia.ipynb', notebookOf('x').replace('"python"', '"julia"'));
    truncateSync(folder.write('a/huge.py', ''), 11 * 1024 * 1024);
    folder.write('a/leak.py', leak);
    const { status, stdout, stderr } = folder.check(['a', 'gone.py', '--format', 'json']);
    expect(status).toBe(2);
    const { findings, skipped, files } = JSON.parse(stdout);
    expect([findings.length, files]).toEqual([1, 1]);
    expect(skipped).toEqual([
      { file: 'gone.py', reason: 'it is not there' },
      { file: 'a/binary.py', reason: 'binary: it has NUL bytes' },
      { file: 'a/broken.ipynb', reason: 'no notebook: its JSON is malformed at line 2' },
      { file: 'a/huge.py', reason: 'larger than the limit of 10 MiB' },
      { file: 'a/julia.ipynb', reason: 'its kernel runs julia, not Python' },
      { file: 'a/latin.py', reason: 'not UTF-8, and without a coding line that says what it is' },
      { file: 'a/unknown.py', reason: 'its coding line names an unknown encoding, "klingon"' },
    ]);
    expect(stderr.split('\n').filter((line) => line.includes('skipped'))).toHaveLength(7);
    expect(folder.check(['a/julia.ipynb']).status).toBe(0);
    expect(folder.check(['a/binary.py', '--exit-zero']).status).toBe(0);
  });

  it('say with a comment that they are not to be checked', () => {
    folder.write('all.py', `# vram-lens: ignore-file\n${leak}`);
    folder.write('one.py', `${leak}  # vram-lens: ignore-file[graph-summed]\n`);
    folder.write('other.py', `# vram-lens: ignore-file[graph-appended]\n${leak}`);
    folder.write('line.py', leak.replace('mean()', 'mean()  # vram-lens: ignore[graph-summed]'));
    folder.write('cells.ipynb', notebookOf('# vram-lens: ignore-file', leak));
    expect(folder.found(['.'])).toEqual(['other.py']);
  });
});

describe('what is written', () => {
  it.each([
    ['CRLF', Buffer.from(leak.replaceAll('\n', '\r\n'))],
    ['a byte order mark', Buffer.from(`\ufeff${leak}`)],
    ['Latin 1', Buffer.from(`# -*- coding: latin-1 -*-\n# \u00e9\n${leak}`, 'latin1')],
    ['GBK', Buffer.concat([Buffer.from('# coding: gbk\n# '), Buffer.from([0xc4, 0xe3]), Buffer.from(`\n${leak}`)])],
  ])('keeps %s', (_, bytes) => {
    const file = folder.write('train.py', bytes);
    expect(folder.check(['train.py', '--fix'])).toMatchObject({ status: 0 });
    const expected = bytes.toString('latin1').replace('mean()', 'mean().item()');
    expect(readFileSync(file).toString('latin1')).toBe(expected);
  });

  it('keeps the mode and a link, and leaves nothing beside', () => {
    const file = folder.write('real/train.py', leak);
    chmodSync(file, 0o750);
    symlinkSync(file, path.join(folder.path, 'link.py'));
    expect(folder.check(['link.py', '--fix']).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('.item()');
    expect(statSync(file).mode & 0o777).toBe(0o750);
    expect(readdirSync(path.dirname(file))).toEqual(['train.py']);
    expect(readdirSync(folder.path)).toEqual(['link.py', 'real']);
  });

  it('is standard output for standard input', () => {
    expect(folder.check(['-', '--fix'], { input: leak }).stdout).toBe(leak.replace('mean()', 'mean().item()'));
    expect(folder.check(['-', '--fix'], { input: 'x = 1\n' }).stdout).toBe('x = 1\n');
    const json = notebookOf(leak);
    expect(folder.check(['-', '--fix'], { input: json }).stdout).toBe(json.replace('mean()', 'mean().item()'));
    expect(folder.check(['-', '--fix', '--format', 'json'], { input: leak }).status).toBe(2);
  });

  it('is a patch that git applies', () => {
    const file = folder.write('a/train.py', leak);
    const { status, stdout } = folder.check(['a', '--diff']);
    expect(status).toBe(1);
    expect(stdout.split('\n').slice(0, 2)).toEqual(['--- a/a/train.py', '+++ b/a/train.py']);
    expect(stdout).toContain('-    total += model(x).mean()\n+    total += model(x).mean().item()\n');
    expect(readFileSync(file, 'utf8')).toBe(leak);
    const both = folder.check(['a', '--diff', '--format', 'json']);
    expect(JSON.parse(both.stdout).findings).toHaveLength(1);
    expect(both.stderr).toContain('+    total += model(x).mean().item()');
  });
});

describe('a notebook', () => {
  it('is checked as one program, with places in its cells', () => {
    folder.write('a.ipynb', notebookOf('%load_ext x\nimport torch', leak.replace('import torch\n', '!ls\n')));
    const { findings, linesAnalysed } = JSON.parse(folder.check(['a.ipynb', '--format', 'json']).stdout);
    expect(linesAnalysed).toBe(7);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ file: 'a.ipynb', cell: 2, line: 4, column: 5, endLine: 4, endColumn: 29 });
    expect(findings[0].chain[0]).toMatchObject({ cell: 2, line: 4, column: 14 });
    expect(findings[0].fixes[0].edits).toEqual([
      {
        ...{ file: 'a.ipynb', cell: 2, startLine: 4, startColumn: 29, endLine: 4, endColumn: 29 },
        newText: '.item()',
      },
    ]);
    expect(folder.check(['a.ipynb']).stdout).toContain('a.ipynb:cell 3:4:5: error [graph-summed]');
  });

  it('is fixed in its cells alone', () => {
    const before = notebookOf('%time pass', leak);
    const file = folder.write('a.ipynb', before);
    expect(folder.check(['a.ipynb', '--diff']).stdout).toContain('+    "    total += model(x).mean().item()\\n",');
    expect(folder.check(['a.ipynb', '--fix']).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(before.replace('mean()', 'mean().item()'));
  });
});
