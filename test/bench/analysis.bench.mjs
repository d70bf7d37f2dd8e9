// Whole-file analysis beside the bare tree-sitter parse of the same text, in one process, by turns, and the analysis after
// one keystroke beside the whole. Budget: 3 times the parse, a file of 2,000 lines under 60 ms (DESIGN section 10), 20 ms
// after a keystroke.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rounds = 15;
const folder = mkdtempSync(path.join(os.tmpdir(), 'vram-lens-bench-'));
try {
  const outfile = path.join(folder, 'analysis.cjs');
  await esbuild.build({
    stdin: {
      contents:
        "export { analyse } from './analyse'; export { IncrementalAnalysis } from './incremental'; export { createParser } from './syntax/parser';",
      resolveDir: path.join(root, 'src/analysis'),
    },
    ...{ bundle: true, platform: 'node', format: 'cjs', outfile, logLevel: 'warning' },
    alias: { 'web-tree-sitter': path.join(root, 'node_modules/web-tree-sitter/tree-sitter.cjs') },
  });
  const { analyse, createParser, IncrementalAnalysis } = createRequire(import.meta.url)(outfile);
  const wasm = (file) => readFileSync(path.join(root, 'node_modules', file));
  const parser = await createParser({
    engine: wasm('web-tree-sitter/tree-sitter.wasm'),
    python: wasm('tree-sitter-python/tree-sitter-python.wasm'),
  });
  // The sample again and again, each time with functions and classes of other names, to 2,000 lines.
  const sample = readFileSync(path.join(root, 'samples/train.py'), 'utf8');
  const copies = Math.ceil(2000 / sample.split('\n').length);
  const names = [...sample.matchAll(/^(?:def|class) (\w+)/gm)].map((match) => match[1]);
  const source = Array.from({ length: copies }, (_, copy) =>
    sample.replace(new RegExp(`\\b(${names.join('|')})\\b`, 'g'), `$1_${copy}`),
  ).join('\n');
  const times = { parse: [], analyse: [] };
  for (let round = 0; round < rounds; round++) {
    times.parse.push(milliseconds(() => parser.parse(source).delete()));
    times.analyse.push(milliseconds(() => analyse(parser, source)));
  }
  const [floor, ours] = [median(times.parse), median(times.analyse)];
  const lines = source.split('\n').length;
  console.log(
    `analysis of ${lines} lines ${ours.toFixed(1)} ms, ${(ours / floor).toFixed(1)} times the bare parse (${floor.toFixed(1)} ms); budget 3 times, 60 ms`,
  );
  // One keystroke inside a function, and taken back again.
  const document = new IncrementalAnalysis(parser);
  document.analyse(source);
  const at = source.indexOf('optimizer.step()', source.length / 2) + 'optimizer.step()'.length;
  const typed = `${source.slice(0, at)} ${source.slice(at)}`;
  const strokes = [];
  for (let round = 0; round < rounds; round++) {
    strokes.push(milliseconds(() => document.analyse(typed)));
    strokes.push(milliseconds(() => document.analyse(source)));
  }
  const stroke = median(strokes);
  console.log(`after one keystroke ${stroke.toFixed(1)} ms, ${(stroke / ours).toFixed(2)} of the whole; budget 20 ms`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function milliseconds(run) {
  const begin = performance.now();
  run();
  return performance.now() - begin;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
