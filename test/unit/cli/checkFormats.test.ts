import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Ajv } from 'ajv';
import * as formats from 'ajv-formats';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explanations } from '../../../src/analysis/rules/explanations';
import { ruleSlugs } from '../../../src/analysis/rules/registry';
import { coloursFor } from '../../../src/cli/check/formats/colours';
import { CheckFolder, leak, notebookOf } from './checkFolder';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
});
afterEach(() => folder.remove());

describe('SARIF', () => {
  const schemaFile = path.join(
    path.dirname(createRequire(import.meta.url).resolve('@microsoft/jest-sarif/package.json')),
    'lib/schemas/sarif-2.1.0-rtm.5.json',
  );

  it('is what the schema of SARIF 2.1.0 wants', () => {
    folder.write('a b.py', leak);
    folder.write('n.ipynb', notebookOf('import torch', leak));
    folder.write('binary.py', '\0');
    const { status, stdout } = folder.check(['.', '--format', 'sarif']);
    expect(status).toBe(2);
    const log: unknown = JSON.parse(stdout);
    const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
    formats.default.default(ajv);
    // Written in draft 4, with nothing in it but its name that later drafts read otherwise.
    const { id, $schema, ...schema } = JSON.parse(readFileSync(schemaFile, 'utf8')) as Record<string, unknown>;
    expect([id, $schema]).toEqual([expect.stringContaining('sarif'), expect.stringContaining('draft-04')]);
    const validate = ajv.compile(schema);
    validate(log);
    expect(validate.errors).toBeNull();
  });

  it('points into the files, with reasons, fixes and rules', () => {
    const json = notebookOf('import torch', leak);
    folder.write('a b.py', leak);
    folder.write('n.ipynb', json);
    const [run] = JSON.parse(folder.check(['.', '--format', 'sarif']).stdout).runs;
    const [script, notebook] = run.results;
    expect(script.level).toBe('error');
    const place = script.locations[0].physicalLocation;
    expect(place.artifactLocation).toEqual({ uri: 'a%20b.py', uriBaseId: 'SRCROOT' });
    expect(place.region).toEqual({ startLine: 4, startColumn: 5, endLine: 4, endColumn: 29 });
    expect(script.partialFingerprints['vramLensFinding/v1']).toMatch(/^[0-9a-f]{32}$/);
    expect(script.codeFlows[0].threadFlows[0].locations).toHaveLength(script.relatedLocations.length);
    expect(script.fixes[0].artifactChanges[0].replacements).toEqual([
      {
        deletedRegion: { startLine: 4, startColumn: 29, endLine: 4, endColumn: 29 },
        insertedContent: { text: '.item()' },
      },
    ]);
    const rule = run.tool.driver.rules[script.ruleIndex];
    expect(rule).toMatchObject({ id: 'graph-summed', defaultConfiguration: { level: 'error' } });
    expect(rule.help.markdown).toContain('```python');
    // In a notebook: where it stands in the JSON.
    const { startLine, startColumn } = notebook.locations[0].physicalLocation.region;
    expect(json.split('\n')[startLine - 1]?.slice(startColumn - 1)).toMatch(/^total \+= model/);
    const [{ deletedRegion, insertedContent }] = notebook.fixes[0].artifactChanges[0].replacements;
    const line = json.split('\n')[deletedRegion.startLine - 1] ?? '';
    const at = deletedRegion.startColumn - 1;
    expect(line.slice(0, at) + insertedContent.text + line.slice(at)).toContain('model(x).mean().item()\\n');
  });
});

describe('the other formats', () => {
  it('are commands for GitHub', () => {
    folder.write('a,b.py', leak);
    expect(folder.check(['.', '--format', 'github']).stdout).toMatch(
      /^::error file=a%2Cb\.py,line=4,endLine=4,col=5,endColumn=29,title=VRAM Lens%3A graph-summed::total .*%0A.*\n$/,
    );
  });

  it('have colours on a terminal alone, and not for who refuses them', () => {
    expect(coloursFor(true, {}).red('x')).toBe('\x1b[31mx\x1b[39m');
    expect(coloursFor(false, {}).red('x')).toBe('x');
    expect(coloursFor(true, { NO_COLOR: '1' }).red('x')).toBe('x');
    expect(coloursFor(true, { TERM: 'dumb' }).red('x')).toBe('x');
  });

  it('do not depend on the number of threads', () => {
    for (let count = 0; count < 40; count++) folder.write(`f${count}.py`, count % 3 === 0 ? leak : 'x = 1\n');
    const [one, four] = ['1', '4'].map((jobs) => folder.check(['.', '--format', 'json', '--jobs', jobs]));
    expect(one?.stdout.length).toBeGreaterThan(1000);
    expect(four?.stdout).toBe(one?.stdout);
    expect([one?.stderr, four?.stderr]).toEqual(['', '']);
    expect(folder.check(['.', '--jobs', '0']).status).toBe(2);
  });
});

describe('an end from outside', () => {
  it('is quiet when nobody reads on, and when the user interrupts', async () => {
    for (let count = 0; count < 800; count++) folder.write(`f${count}.py`, leak.repeat(10));
    const run = (args: string[]): ChildProcess =>
      spawn(process.execPath, [path.resolve(import.meta.dirname, '../../../dist/cli.js'), 'check', '.', ...args], {
        ...{ cwd: folder.path, stdio: ['ignore', 'pipe', 'pipe'] },
      });
    const ended = async (child: ChildProcess): Promise<[number | null, string | null, string]> => {
      let errors = '';
      child.stderr?.on('data', (text: Buffer) => void (errors += text.toString()));
      const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
      return [code, signal, errors];
    };
    for (const jobs of ['1', '2']) {
      const interrupted = run(['--jobs', jobs]);
      setTimeout(() => interrupted.kill('SIGINT'), 600);
      expect(await ended(interrupted)).toEqual([null, 'SIGINT', '']);
    }
    const unread = run(['--format', 'json', '--select', 'graph-summed']);
    unread.stdout?.destroy();
    expect((await ended(unread)).slice(1)).toEqual([null, '']);
  });
});

describe('--explain', () => {
  it('has a text for every rule that reports', () => {
    const explained = explanations.map(({ rule }) => rule);
    expect(new Set(explained).size).toBe(46);
    expect(ruleSlugs.filter((rule) => !explained.includes(rule))).toEqual([]);
  });

  it('says it in the language of the user, and knows what there is', () => {
    expect(folder.check(['--explain', 'graph-summed'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('What it costs:'),
    });
    const chinese = folder.check(['--explain', 'graph-summed'], { env: { VRAM_LENS_LANG: 'zh_CN' } });
    expect(chinese.stdout).toContain('如何修复');
    expect(folder.check(['--explain', 'nope'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('graph-summed'),
    });
  });
});

describe('a baseline', () => {
  it('hides what it records, also when lines move, and nothing new', () => {
    folder.write('a.py', leak);
    folder.write('n.ipynb', notebookOf('import torch', leak));
    expect(folder.check(['.', '--baseline', 'known.json']).status).toBe(2);
    expect(folder.check(['.', '--write-baseline', '--baseline', 'known.json']).status).toBe(0);
    const written = readFileSync(path.join(folder.path, 'known.json'), 'utf8');
    expect(folder.check(['.', '--write-baseline', 'known.json']).status).toBe(0);
    expect(readFileSync(path.join(folder.path, 'known.json'), 'utf8')).toBe(written);
    const again = folder.check(['.', '--baseline', 'known.json']);
    expect([again.status, again.stdout]).toEqual([0, 'No findings. The baseline hides 2.\n']);

    folder.write('a.py', `# one line more\n\n${leak}`);
    expect(folder.check(['.', '--baseline', 'known.json']).status).toBe(0);
    folder.write('a.py', leak.replace('print', '    total += model(x).mean()\nprint'));
    const more = folder.check(['.', '--baseline', 'known.json', '--format', 'json']);
    expect(JSON.parse(more.stdout).findings.map(({ line }: { line: number }) => line)).toEqual([5]);
    expect(folder.check(['a.py', '--fix', '--baseline', 'known.json']).status).toBe(0);
    const fixed = readFileSync(path.join(folder.path, 'a.py'), 'utf8');
    expect(fixed).toContain('mean()\n    total += model(x).mean().item()\n');

    folder.write('pyproject.toml', '[tool.vram-lens]\nbaseline = "known.json"\n');
    expect(folder.check(['n.ipynb']).status).toBe(0);
    folder.write('known.json', '{');
    expect(folder.check(['n.ipynb'])).toMatchObject({ status: 2, stderr: expect.stringContaining('known.json') });
  });
});
