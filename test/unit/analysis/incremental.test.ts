import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyse } from '../../../src/analysis/analyse';
import { IncrementalAnalysis } from '../../../src/analysis/incremental';
import { testParser } from './testParser';

const folder = path.resolve(__dirname, '../../cases');
const scripts = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => path.join(folder, entry.name))
  .map((slug) => path.join(slug, readdirSync(slug).find((file) => file.endsWith('.leak.py')) ?? ''))
  .filter((file) => file.endsWith('.py'));

/** A small generator of its own: the same edits in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % below;
  };
}

/** What people do to a line: type, delete, duplicate, rename, take a `.item()` or `.detach()` away. */
function edited(source: string, random: (below: number) => number): string {
  const lines = source.split('\n');
  const at = random(lines.length);
  const line = lines[at] ?? '';
  const edits: (() => void)[] = [
    () => (lines[at] = `${line} `),
    () => (lines[at] = line.replace('.item()', '')),
    () => (lines[at] = line.replace('.detach()', '')),
    () => (lines[at] = line.replace(/\b(\w+)\b(?=\s*[+=)])/, '$1x')),
    () => lines.splice(at, 0, line),
    () => lines.splice(at, 1),
  ];
  edits[random(edits.length)]?.();
  return lines.join('\n');
}

describe('the analysis of one document again and again', () => {
  let parser: Parser;
  beforeAll(async () => {
    parser = await testParser();
  });

  it.each(scripts.map((file) => [path.relative(folder, file), file]))(
    'answers after every edit what one from the start does: %s',
    (_, file) => {
      const random = randomOf(file.length);
      const document = new IncrementalAnalysis(parser);
      let source = readFileSync(file, 'utf8');
      expect(document.analyse(source)).toEqual(analyse(parser, source));
      for (let step = 0; step < 12; step++) {
        source = edited(source, random);
        expect(document.analyse(source)).toEqual(analyse(parser, source));
      }
      document.forget();
    },
    20_000,
  );
});
