import path from 'node:path';
import { ask, execute } from './execute.mjs';
import { Missing } from './missing.mjs';
import { once } from './once.mjs';
import { cache } from './paths.mjs';

const torchVersion = '2.13.0';
/** PyTorch's own index of CPU builds; on Linux the plain package of PyPI is a CUDA build of several GB. */
const cpuIndex = 'https://download.pytorch.org/whl/cpu';
const ordinaryIndex = 'https://pypi.org/simple';

const isWindows = process.platform === 'win32';
const inEnvironment = isWindows ? ['Scripts', 'python.exe'] : ['bin', 'python'];

/**
 * A Python whose `import torch` works: VRAM_LENS_PYTHON, the active environment's, or python3 if it has torch; else one
 * of a virtual environment in the cache folder, made here at first use.
 * @throws Missing where there is no Python to begin with, or PyTorch cannot be installed.
 */
export async function ensurePython() {
  const given = process.env.VRAM_LENS_PYTHON;
  if (given) {
    if (hasTorch(given)) return given;
    throw new Missing(`VRAM_LENS_PYTHON names ${given}, which is no Python with PyTorch 1.13 or newer.`);
  }
  const active = [process.env.VIRTUAL_ENV, process.env.CONDA_PREFIX].filter(Boolean).map(pythonOf);
  const found = [...active, 'python3'].find(hasTorch);
  if (found) return ask(found, ['-c', 'import sys; print(sys.executable)']);
  return makeEnvironment();
}

const pythonOf = (environment) => path.join(environment, ...inEnvironment);

/** torch 1.13 is the oldest that the agent and the simulator know. */
function hasTorch(python) {
  const program =
    'import torch; assert tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2]) >= (1, 13); print("yes")';
  return ask(python, ['-c', program]) === 'yes';
}

async function makeEnvironment() {
  const base = isWindows ? 'python' : 'python3';
  const minor = ask(base, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']);
  if (minor === null) throw new Missing('There is no python3 on the path: install Python 3.10 or newer.');
  const folder = path.join(cache, `python-${minor}-torch-${torchVersion}`);
  await once(folder, async () => {
    if (ask(base, ['-c', 'import ensurepip, venv']) === null) {
      throw new Missing(`Python ${minor} has no venv module: install the Debian package python${minor}-venv.`);
    }
    console.log(`Installing PyTorch ${torchVersion} for the CPU into ${folder} …`);
    await execute(base, ['-m', 'venv', folder], { failure: `Making a virtual environment in ${folder} failed:` });
    await execute(pythonOf(folder), ['-m', 'pip', 'install', ...(await sources()), `torch==${torchVersion}`, 'numpy'], {
      failure: `Installing PyTorch ${torchVersion} failed; VRAM_LENS_PYTHON may name a Python that has it:`,
    });
  });
  return pythonOf(folder);
}

/** Where pip looks: the CPU index if it answers, else wherever this machine's pip looks anyway. */
async function sources() {
  if (process.platform === 'darwin') return []; // there the plain package is the CPU build
  const answers = await fetch(`${cpuIndex}/torch/`, { method: 'HEAD', signal: AbortSignal.timeout(5000) }).then(
    (response) => response.ok,
    () => false,
  );
  return answers ? ['--index-url', cpuIndex, '--extra-index-url', ordinaryIndex] : [];
}
