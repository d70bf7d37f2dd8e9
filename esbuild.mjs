// Builds dist/: `node esbuild.mjs [--watch]`; `--cli` builds the command line alone, as `npm pack` needs it.
import { cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(root, 'dist');
const watch = process.argv.includes('--watch');
const cliOnly = process.argv.includes('--cli');

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  sourcemap: watch ? 'inline' : false,
  logLevel: 'warning',
};

const node = {
  ...common,
  ...{ platform: 'node', target: 'node20', format: 'cjs', external: ['vscode'] },
  // Its ES module asks import.meta for its own place, which a CommonJS bundle does not have.
  alias: { 'web-tree-sitter': path.join(root, 'node_modules/web-tree-sitter/tree-sitter.cjs') },
};
const page = { ...common, platform: 'browser', target: 'chrome120', format: 'iife' };

const cliTargets = [
  { ...node, entryPoints: { cli: 'src/cli/main.ts' }, outdir: dist, banner: { js: '#!/usr/bin/env node' } },
  { ...node, entryPoints: { checkWorker: 'src/cli/check/worker.ts' }, outdir: dist },
];

const editorTargets = [
  { ...node, entryPoints: { extension: 'src/extension/activate.ts' }, outdir: dist },
  { ...node, entryPoints: { server: 'src/server/main.ts' }, outdir: dist },
  { ...node, entryPoints: { probe: 'src/probe/main.ts' }, outdir: dist },
  {
    ...page,
    entryPoints: { panel: 'src/webview/panel/main.ts', style: 'src/webview/panel/style.css' },
    outdir: path.join(dist, 'webview'),
  },
];

/** The parser's WebAssembly, beside the bundles that read it. */
async function copyParser() {
  for (const file of ['web-tree-sitter/tree-sitter.wasm', 'tree-sitter-python/tree-sitter-python.wasm']) {
    await cp(path.join(root, 'node_modules', file), path.join(dist, path.basename(file)));
  }
}

/** Python and C++ sources that run on the user's side, as they are. */
async function copySources() {
  for (const [from, to] of [
    ['src/agent', 'agent'],
    ['src/simulator', 'simulator'],
    ['native/simulated_cuda', 'simulator/native'],
  ]) {
    await cp(path.join(root, from), path.join(dist, to), {
      recursive: true,
      filter: (file) => !/__pycache__|\.pyc$/.test(file),
    });
  }
}

const targets = cliOnly ? cliTargets : [...editorTargets, ...cliTargets];

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await copySources();
await copyParser();
if (watch) {
  for (const target of targets) await (await esbuild.context(target)).watch();
} else {
  await Promise.all(targets.map((target) => esbuild.build(target)));
}
