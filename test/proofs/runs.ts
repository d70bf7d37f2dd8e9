import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** What a script did, as `measure.py` saw it. */
export interface Run {
  error: string | null;
  output: string;
  /** Bytes of tensors; those of the host left out. */
  peak: number;
  mean: number;
  /** The rest of the C heap on average: the graph's nodes, among others. */
  heap: number;
  /** Tensor bytes, rest of the heap and peak since the last sample, each time the probe's line was about to run. */
  samples: [number, number, number][];
}

export interface Script {
  source: string;
  /** 1-based. */
  probeLine: number | null;
}

/** Runs scripts with PyTorch on the CPU, two at a time, each in a process of its own with a fixed seed. */
export async function runScripts(scripts: readonly Script[]): Promise<Run[]> {
  const ofLane = (lane: number): Script[] => scripts.filter((_, index) => index % 2 === lane);
  const [even = [], odd = []] = await Promise.all([runOneByOne(ofLane(0)), runOneByOne(ofLane(1))]);
  return scripts.flatMap((_, index) => (index % 2 === 0 ? even : odd)[index >> 1] ?? []);
}

async function runOneByOne(scripts: readonly Script[]): Promise<Run[]> {
  const python = process.env['VRAM_LENS_PYTHON'];
  if (python === undefined) throw new Error('VRAM_LENS_PYTHON names no Python: "npm test -- proofs" does');
  const folder = await mkdtemp(path.join(tmpdir(), 'vram-lens-proofs-'));
  try {
    const jobs = scripts.map(({ probeLine }, index) => ({ file: path.join(folder, `${index}.py`), probe: probeLine }));
    // On a CPU to("cpu") copies nothing; cpu() is measured as a copy in host memory.
    const texts = scripts.map(({ source }) => source.replace(/\.to\((["'])cpu\1(?:, copy=True)?\)/g, '.cpu()'));
    await Promise.all(texts.map((text, index) => writeFile(jobs[index]?.file ?? '', text)));
    await writeFile(path.join(folder, 'jobs'), JSON.stringify(jobs));
    const command = [path.join(__dirname, 'measure.py'), path.join(folder, 'jobs'), path.join(folder, 'results')];
    await promisify(execFile)(python, command, {
      env: { ...process.env, PYTHONHASHSEED: '0', PYTHONWARNINGS: 'ignore', OMP_NUM_THREADS: '1' },
      maxBuffer: 100_000_000, // warnings
    });
    const results = await readFile(path.join(folder, 'results'), 'utf8');
    return results.split('\n', scripts.length).map((line) => JSON.parse(line) as Run);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
