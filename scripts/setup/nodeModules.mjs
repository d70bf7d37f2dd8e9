import { readFileSync } from 'node:fs';
import path from 'node:path';
import { execute } from './execute.mjs';
import { root } from './paths.mjs';

/** Installs the npm packages of package-lock.json when they are not there, or not in its versions. */
export async function ensureNodeModules() {
  if (isInstalled()) return;
  console.log('Installing npm packages …');
  await execute('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    failure: 'npm ci failed, so the npm packages are missing; it says:',
  });
}

/** npm records what it installed in node_modules/.package-lock.json; packages of other platforms are left out there. */
function isInstalled() {
  const wanted = readPackages('package-lock.json');
  const installed = readPackages('node_modules/.package-lock.json');
  if (installed === null) return false;
  return Object.entries(wanted).every(
    ([name, entry]) => name === '' || installed[name]?.version === entry.version || entry.optional === true,
  );
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8')).packages;
  } catch {
    return null;
  }
}
