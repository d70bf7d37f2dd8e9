// What the agent costs the training: one sample and the step hook, beside a floor of the same run.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('agent_sample.py', import.meta.url));
const { status } = spawnSync(process.env.VRAM_LENS_PYTHON ?? 'python3', [script], { stdio: 'inherit' });
process.exitCode = status ?? 1;
