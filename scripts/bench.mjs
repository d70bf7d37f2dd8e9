// `npm run bench [-- name …]`: runs the benchmarks of test/bench/, each of which prints its own figure beside a floor.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ended, start } from './run/processes.mjs';
import { Missing, runMain } from './setup/missing.mjs';
import { ensureNodeModules } from './setup/nodeModules.mjs';
import { root } from './setup/paths.mjs';
import { ensurePython } from './setup/python.mjs';

await runMain(async () => {
  const folder = path.join(root, 'test/bench');
  const known = readdirSync(folder)
    .filter((name) => name.endsWith('.bench.mjs'))
    .map((name) => name.replace('.bench.mjs', ''));
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Missing(`There is no benchmark ${unknown}; there are: ${known.join(', ')}.`);
  await ensureNodeModules();
  const env = { ...process.env, VRAM_LENS_PYTHON: await ensurePython() };
  const { build } = await import('./run/build.mjs');
  await build();
  for (const name of names.length === 0 ? known : names) {
    console.log(`\n${name}`);
    const file = path.join(folder, `${name}.bench.mjs`);
    const { code } = await ended(start(process.execPath, [file], { cwd: root, env, stdio: 'inherit' }));
    if (code !== 0) process.exitCode = 1;
  }
});
