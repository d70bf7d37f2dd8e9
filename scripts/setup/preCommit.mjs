import path from 'node:path';
import { ask, execute } from './execute.mjs';
import { Missing } from './missing.mjs';
import { once } from './once.mjs';
import { cache } from './paths.mjs';

const version = '4.3.0';
const isWindows = process.platform === 'win32';

/**
 * The pre-commit of a virtual environment in the cache folder, made here at first use.
 * @throws Missing where there is no Python, or pre-commit cannot be installed.
 */
export async function ensurePreCommit() {
  const base = isWindows ? 'python' : 'python3';
  if (ask(base, ['-c', 'import ensurepip, venv']) === null) {
    throw new Missing('pre-commit needs a Python with its venv module: install python3 and python3-venv.');
  }
  const folder = path.join(cache, `pre-commit-${version}`);
  const inEnvironment = (name) => path.join(folder, isWindows ? 'Scripts' : 'bin', name);
  await once(folder, async () => {
    await execute(base, ['-m', 'venv', folder], { failure: `Making a virtual environment in ${folder} failed:` });
    await execute(inEnvironment('python'), ['-m', 'pip', 'install', `pre-commit==${version}`], {
      failure: `Installing pre-commit ${version} failed:`,
    });
  });
  return inEnvironment('pre-commit');
}
