// The GIL time of one sample of the agent, on the NVIDIA GPU or else on a simulated one; agent_sample.py measures.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const python = process.env.VRAM_LENS_PYTHON;
const probe = 'import torch; print(torch.cuda.is_available())';
const isReal = spawnSync(python, ['-c', probe], { encoding: 'utf8' }).stdout.trim() === 'True';
const run = [path.join(root, 'dist/cli.js'), 'run', '--quiet', ...(isReal ? [] : ['--simulate', '8GiB'])];
const script = path.join(root, 'test/bench/agent_sample.py');
const { status } = spawnSync(process.execPath, [...run, '--', python, script], { stdio: 'inherit' });
process.exitCode = status ?? 1;
