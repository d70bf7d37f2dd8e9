import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyse, applyEdits } from '../../../src/analysis/analyse';
import { lineOf, testParser } from './testParser';

/** The labelled, measured scripts that are shared between the projects; they are not part of this repository. */
const folder = path.join(process.env['VRAM_LENS_SHARED'] ?? path.resolve(__dirname, '../../../../shared'), 'cases');
const there = existsSync(path.join(folder, 'cases.json'));

interface Case {
  file: string;
  label: 'leak' | 'clean';
  line: number | null;
  also_accept: number[];
  tolerated_lines: number[];
}

const cases = there
  ? (JSON.parse(readFileSync(path.join(folder, 'cases.json'), 'utf8')) as { cases: Case[] }).cases
  : [];
const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
/** The ones of the family that is built so far: P01, P02, P03. */
const found = ['leak_01_eval_accumulate.py', 'leak_02_train_total_loss.py', 'leak_03_trainer_history.py'];

describe('the labelled scripts', () => {
  let parser: Parser;
  beforeAll(async () => {
    parser = await testParser();
  });

  it('are there', (context) => {
    if (process.env['CI'] === undefined && !there) context.skip(`${folder} is missing`);
    expect(cases.length).toBeGreaterThan(30);
  });

  it.each(cases.filter((one) => one.label === 'clean').map((one) => one.file))('nothing in %s', (file) => {
    expect(analyse(parser, read(file)).map((finding) => finding.rule)).toEqual([]);
  });

  it.each(cases.filter((one) => one.label === 'leak').map((one) => [one.file, one] as const))(
    'nothing but its leak in %s',
    (file, one) => {
      const source = read(file);
      const lines = analyse(parser, source).map((finding) => lineOf(source, finding.start));
      const right = [one.line, ...one.also_accept, ...(one.tolerated_lines ?? [])];
      expect(lines.filter((line) => !right.includes(line))).toEqual([]);
    },
  );

  it.each(there ? found : [])('the leak of %s, whose fixes end it', (file) => {
    const source = read(file);
    const one = cases.find((other) => other.file === file);
    const [finding, ...more] = analyse(parser, source);
    expect(more).toEqual([]);
    expect([one?.line, ...(one?.also_accept ?? [])]).toContain(lineOf(source, finding?.start ?? 0));
    expect(finding?.chain.length).toBeGreaterThan(1);
    expect(finding?.fixes.length).toBeGreaterThan(0);
    for (const fix of finding?.fixes ?? []) {
      const fixed = applyEdits(source, fix.edits);
      expect(parser.parse(fixed)?.rootNode.hasError).toBe(false);
      expect(analyse(parser, fixed)).toEqual([]);
    }
    // The preferred fix is the one that was measured.
    expect(applyEdits(source, finding?.fixes[0]?.edits ?? [])).toContain('.item()');
  });
});
