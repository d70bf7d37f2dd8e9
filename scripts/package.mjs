// `npm run package`: builds everything and packs out/vram-lens-<version>.vsix.
import { statSync } from 'node:fs';
import path from 'node:path';
import { runMain } from './setup/missing.mjs';
import { ensureNodeModules } from './setup/nodeModules.mjs';
import { root } from './setup/paths.mjs';

await runMain(async () => {
  await ensureNodeModules();
  const { build } = await import('./run/build.mjs');
  const { packVsix } = await import('./run/vsix.mjs');
  await build();
  const file = await packVsix();
  console.log(`${path.relative(root, file)}: ${(statSync(file).size / 1024).toFixed(0)} KiB`);
});
