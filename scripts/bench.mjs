// `npm run bench [-- name …]`: runs the benchmarks of test/bench/, each of which prints its own ratios to a floor.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ended, start } from './run/processes.mjs';
import { Missing, runMain } from './setup/missing.mjs';
import { ensureNodeModules } from './setup/nodeModules.mjs';
import { root } from './setup/paths.mjs';
import { ensurePython } from './setup/python.mjs';

await runMain(async () => {
  const folder = path.join(root, 'test/bench');
  const files = readdirSync(folder).filter((name) => /\.bench\.(mjs|py)$|^bench_\w+\.py$/.test(name));
  const nameOf = (file) => file.replace(/^bench_|\.bench\.mjs$|\.py$/g, '').replace(/\.bench$/, '');
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !files.some((file) => nameOf(file) === name));
  if (unknown !== undefined) {
    throw new Missing(`There is no benchmark ${unknown}; there are: ${files.map(nameOf).join(', ')}.`);
  }
  await ensureNodeModules();
  const { build } = await import('./run/build.mjs');
  await build();
  for (const file of files.filter((file) => names.length === 0 || names.includes(nameOf(file)))) {
    console.log(`\n${nameOf(file)}`);
    const command = file.endsWith('.py') ? await ensurePython() : process.execPath;
    const { code } = await ended(start(command, [path.join(folder, file)], { cwd: root, stdio: 'inherit' }));
    if (code !== 0) process.exitCode = 1;
  }
});
