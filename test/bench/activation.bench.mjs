// How long dist/extension.js takes to load and activate, beside an extension that does nothing. Each in a fresh
// process with a stand-in for the `vscode` module, so that only our own share is measured. Budget: 40 ms.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rounds = 15;

const folder = mkdtempSync(path.join(os.tmpdir(), 'vram-lens-bench-'));
try {
  const floor = path.join(folder, 'floor.js');
  writeFileSync(floor, 'exports.activate = () => {};\n');
  const ours = path.join(root, 'dist/extension.js');
  const times = { floor: [], ours: [] };
  // By turns, so that a busy moment of the machine meets both.
  for (let round = 0; round < rounds; round++) {
    times.floor.push(measure(floor));
    times.ours.push(measure(ours));
  }
  const [least, mine] = [median(times.floor), median(times.ours)];
  console.log(`activation ${mine.toFixed(1)} ms, budget 40 ms; an empty extension ${least.toFixed(1)} ms`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function measure(file) {
  const storage = mkdtempSync(path.join(folder, 'storage-'));
  const child = spawnSync(process.execPath, [path.join(root, 'test/bench/activateOnce.mjs'), file, root, storage], {
    encoding: 'utf8',
  });
  if (child.status !== 0) throw new Error(child.stderr);
  return Number(child.stdout);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
