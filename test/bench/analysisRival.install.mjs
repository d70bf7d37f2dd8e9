// The rival of the static analysis, in a virtual environment of its own in the cache folder.
import path from 'node:path';
import { ask, execute } from '../../scripts/setup/execute.mjs';
import { Missing } from '../../scripts/setup/missing.mjs';
import { once } from '../../scripts/setup/once.mjs';
import { cache } from '../../scripts/setup/paths.mjs';

export const rival = 'torch-preflight 0.5.0';
const requirement = 'torch-preflight==0.5.0';

/**
 * The Python whose `-m torch_preflight` is the rival; installed at first use.
 * @throws Missing with the lines that install it by hand
 */
export async function ensureRival(basePython) {
  const folder = path.join(cache, requirement.replace('==', '-'));
  const python = path.join(folder, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));
  if (isThere(python)) return python;
  const failure = [
    `${rival} is not here and could not be installed, so there is nothing to compare with. By hand:`,
    `  ${basePython} -m venv ${folder}`,
    `  ${python} -m pip install ${requirement}`,
  ].join('\n');
  await once(folder, async () => {
    console.log(`Installing ${rival} into ${folder} …`);
    await execute(basePython, ['-m', 'venv', folder], { failure });
    await execute(python, ['-m', 'pip', 'install', requirement], { failure });
  });
  if (!isThere(python)) throw new Missing(failure);
  return python;
}

/** Asked of the program itself, so that one installed by hand counts too. */
const isThere = (python) => ask(python, ['-m', 'torch_preflight', '--version'])?.endsWith(rival.split(' ')[1]) === true;
