// The agent's sample and step hook without torch: what is ours of their cost, beside a floor of the same run.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('agent_parts.py', import.meta.url));
const { status } = spawnSync(process.env.VRAM_LENS_PYTHON, [script], { stdio: 'inherit' });
process.exitCode = status ?? 1;
