// `npm test [-- suite …]`: builds everything and runs the suites; the last line says how many tests passed and failed.
import { createWriteStream, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ended, start, stop, stopAll } from './run/processes.mjs';
import { temporaryFolder } from './run/temporaryFolder.mjs';
import { Missing, runMain } from './setup/missing.mjs';
import { ensureNodeModules } from './setup/nodeModules.mjs';
import { out, root } from './setup/paths.mjs';
import { suites } from './test/suites.mjs';

const inCi = process.env.CI === 'true' || process.env.CI === '1';
const folder = path.join(out, 'tests');

async function main() {
  const chosen = choose(process.argv.slice(2));
  await ensureNodeModules();
  const { build } = await import('./run/build.mjs');
  await build();
  mkdirSync(folder, { recursive: true });

  const total = { passed: 0, failed: 0, skipped: 0 };
  await Promise.all(
    ['code', 'editor'].map(async (lane) => {
      for (const suite of chosen.filter((suite) => suite.lane === lane)) {
        const counts = await runSuite(suite);
        for (const key of Object.keys(total)) total[key] += counts[key];
      }
    }),
  );
  await stopAll();
  console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
}

function choose(names) {
  const known = suites.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Missing(`There is no suite ${unknown}; there are: ${known.join(', ')}.`);
  return names.length === 0 ? suites : suites.filter(({ name }) => names.includes(name));
}

/** Runs one suite to its end and prints its line; answers its counts. */
async function runSuite(suite) {
  const begun = Date.now();
  let needed;
  try {
    needed = (await suite.needs()) ?? {};
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    console.log(`${suite.name}: ${inCi ? 'cannot run' : 'skipped'}: ${error.message}`);
    return { passed: 0, failed: inCi ? 1 : 0, skipped: inCi ? 0 : 1 };
  }
  const resultFile = path.join(folder, `${suite.name}.json`);
  const logFile = path.join(folder, `${suite.name}.log`);
  rmSync(resultFile, { force: true });
  // Short, because the agent's socket lies in it; private, so that no session of the user's is touched.
  const runtime = temporaryFolder('vl-');
  const environment = { ...process.env, ...suite.environment(needed), XDG_RUNTIME_DIR: runtime };
  for (const name of ['PYTHONPATH', 'VRAM_LENS', 'VRAM_LENS_SIMULATE']) delete environment[name];
  const [command, args] = suite.command(needed, resultFile);
  const child = start(command, args, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(logFile);
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void stop(child);
  }, suite.limit * 1000);
  const { code, signal } = await ended(child);
  clearTimeout(timer);
  await new Promise((resolve) => log.end(resolve));

  const counts = readCounts(suite, resultFile);
  const end = late ? `not finished within ${suite.limit} s` : `ended with ${signal ?? `code ${code}`}`;
  let crash = '';
  if (counts.failed === 0 && (late || code !== 0)) crash = `, ${end}`;
  else if (counts.passed + counts.failed === 0) crash = ', no test ran';
  if (crash !== '') counts.failed += 1;
  if (counts.failed > 0) console.log(`\n----- ${suite.name}\n${readFileSync(logFile, 'utf8').trimEnd()}\n-----`);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  console.log(`${suite.name}: ${counts.passed} passed, ${counts.failed} failed${skipped}${crash} (${seconds} s)`);
  return counts;
}

function readCounts(suite, file) {
  try {
    const { passed, failed, skipped } = suite.read(JSON.parse(readFileSync(file, 'utf8')));
    return { passed, failed, skipped };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

await runMain(main);
