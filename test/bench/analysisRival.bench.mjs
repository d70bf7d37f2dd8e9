// `vram-lens check` beside the nearest rival's two memory rules, over the same files of PyTorch itself, each as a whole
// process in one thread. All our rules run, of the rival's only the two that look for what ours look for.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Missing, runMain } from '../../scripts/setup/missing.mjs';
import { root } from '../../scripts/setup/paths.mjs';
import { ensureRival, rival } from './analysisRival.install.mjs';

const folders = ['nn', 'optim', 'distributed', 'ao'];
/** A round of the rival takes about a minute. */
const rounds = 2;
const python = process.env.VRAM_LENS_PYTHON;

await runMain(async () => {
  const work = mkdtempSync(path.join(os.tmpdir(), 'vram-lens-bench-'));
  try {
    const files = copyTorch(work);
    // Reading them also brings every file into the system's cache, for both.
    const lines = files.reduce((sum, file) => sum + lineCount(readFileSync(file, 'utf8')), 0);
    console.log(
      `${files.length} files of torch (${folders.join(', ')}), ${lines} lines, one thread, least of ${rounds}`,
    );

    const options = ['--jobs', '1', '--format', 'json', ...folders];
    const check = [path.join(root, 'dist/cli.js'), 'check', ...options];
    const rules = ['-m', 'torch_preflight', 'check', '--select', 'TG001,TG002', ...options];
    const rivalPython = await rivalOrNull();
    const times = { ours: [], rival: [] };
    // By turns, so that a busy moment of the machine meets both.
    for (let round = 0; round < rounds; round++) {
      const ours = timed(process.execPath, check, work);
      expectFiles('vram-lens check', ours.answer.files, files.length);
      times.ours.push(ours.seconds);
      if (rivalPython === null) continue;
      const theirs = timed(rivalPython, rules, work);
      expectFiles(rival, theirs.answer.summary.files_checked, files.length);
      times.rival.push(theirs.seconds);
    }
    const ourLeast = Math.min(...times.ours);
    show('vram-lens check', ourLeast, lines);
    if (rivalPython === null) return;
    const rivalLeast = Math.min(...times.rival);
    show(`${rival}, TG001 and TG002`, rivalLeast, lines);
    console.log(`ratio ${(rivalLeast / ourLeast).toFixed(1)}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});

/** Our own figure is worth having without the rival too, but then the benchmark has failed. */
async function rivalOrNull() {
  try {
    return await ensureRival(python);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    console.log(error.message);
    process.exitCode = 1;
    return null;
  }
}

/** Copies the folders, because both programs leave installed packages alone; answers the Python files. */
function copyTorch(work) {
  const program = 'import os, torch; print(os.path.dirname(torch.__file__))';
  const { stdout, status } = spawnSync(python, ['-c', program], { encoding: 'utf8' });
  if (status !== 0) throw new Missing(`${python} has no PyTorch, whose files are what is analysed here.`);
  for (const folder of folders) {
    const filter = (file) => path.basename(file) !== '__pycache__';
    cpSync(path.join(stdout.trim(), folder), path.join(work, folder), { recursive: true, filter });
  }
  return readdirSync(work, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.py'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function lineCount(text) {
  return text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0);
}

/** Runs one program over the copy. Its exit code is 1 where it found something, which is no failure here. */
function timed(command, args, cwd) {
  const begin = performance.now();
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...{ cwd, encoding: 'utf8', maxBuffer: 2 ** 28, timeout: 600_000 },
  });
  const seconds = (performance.now() - begin) / 1000;
  if (status !== 0 && status !== 1) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return { seconds, answer: JSON.parse(stdout) };
}

function expectFiles(name, analysed, given) {
  if (analysed !== given) throw new Error(`${name} analysed ${analysed} of ${given} files: no fair comparison.`);
}

function show(name, seconds, lines) {
  console.log(`${name} ${seconds.toFixed(2)} s, ${Math.round(lines / seconds)} lines/s`);
}
