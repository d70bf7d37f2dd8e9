import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { execute } from '../setup/execute.mjs';
import { out, root } from '../setup/paths.mjs';

/** Packs what is built into a VSIX in out/ and answers its path. Everything is bundled, so no node_modules go in. */
export async function packVsix() {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const file = path.join(out, `vram-lens-${version}.vsix`);
  mkdirSync(out, { recursive: true });
  const vsce = path.join(root, 'node_modules/@vscode/vsce/vsce');
  await execute(process.execPath, [vsce, 'package', '--no-dependencies', '--out', file], {
    cwd: root,
    failure: 'Packing the VSIX failed:',
  });
  return file;
}
