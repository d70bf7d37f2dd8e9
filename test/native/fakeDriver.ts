import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const here = __dirname;
const GiB = 1024 ** 3;

/** Two cards of different size, as lines of the fake's file (fake_nvml.c). */
export const twoDevices = [
  `device GPU-aaaa Fake_RTX_4090 ${24 * GiB} ${GiB / 2} ${10 * GiB}`,
  `device GPU-bbbb Fake_A100 ${80 * GiB} ${GiB} ${3 * GiB}`,
];

/** Our own libnvidia-ml, compiled into a folder of its own, and the file that drives it. */
export class FakeDriver {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'vl-nvml-'));
  readonly library = path.join(this.folder, 'libnvidia-ml.so.1');
  readonly file = path.join(this.folder, 'world');

  constructor(lines: string[] = twoDevices) {
    const flags = ['-std=gnu11', '-Wall', '-Wextra', '-shared', '-fPIC', '-O1'];
    execFileSync('cc', [...flags, path.join(here, 'fake_nvml.c'), '-o', this.library]);
    this.say(...lines);
  }

  /** What the driver answers from now on. */
  say(...lines: string[]): void {
    writeFileSync(this.file, `${lines.join('\n')}\n`);
  }

  get environment(): { VRAM_LENS_NVML: string; VRAM_LENS_FAKE_NVML: string } {
    return { VRAM_LENS_NVML: this.library, VRAM_LENS_FAKE_NVML: this.file };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
