import { existsSync } from 'node:fs';
import path from 'node:path';
import { ensureCompiler } from '../setup/compiler.mjs';
import { execute } from '../setup/execute.mjs';
import { root } from '../setup/paths.mjs';

/** Set for whatever is started after a build, so that nobody rebuilds dist/ below a running test. */
const builtName = 'VRAM_LENS_BUILT';

/** Builds dist/ and, where its sources are there, the addon. */
export async function build() {
  if (process.env[builtName] !== undefined) return;
  console.log('Building …');
  await execute(process.execPath, ['esbuild.mjs'], { cwd: root, failure: 'Building dist/ failed:' });
  process.env[builtName] = 'yes';
  if (!existsSync(path.join(root, 'CMakeLists.txt'))) return;
  ensureCompiler();
  const cmakeJs = path.join(root, 'node_modules/cmake-js/bin/cmake-js');
  await execute(process.execPath, [cmakeJs, 'compile'], { cwd: root, failure: 'Building the addon failed:' });
}
