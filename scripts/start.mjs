// `npm start [-- options]`: VS Code with the extension and samples/, and a training in it to watch.
import { mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { isFree } from './run/port.mjs';
import { ended, start, stopAll } from './run/processes.mjs';
import { temporaryFolder } from './run/temporaryFolder.mjs';
import { ensureCompiler } from './setup/compiler.mjs';
import { ask } from './setup/execute.mjs';
import { Missing, runMain } from './setup/missing.mjs';
import { ensureNodeModules } from './setup/nodeModules.mjs';
import { out, root } from './setup/paths.mjs';
import { ensurePython } from './setup/python.mjs';

const help = `npm start [-- OPTIONS]

Builds everything, opens VS Code with the extension and the folder samples/, and trains samples/train.py under the
agent: on the NVIDIA GPU where there is one, else on a simulated one. Open the view "GPU Memory" there; the terminal
shows the same numbers. Ctrl-C stops all of it.

  --simulate SIZE   train on a simulated device of this size even where there is a GPU, e.g. 16GiB (default: 24GiB)
  --leak            switch on the memory leak of the sample
  --steps N         end the training after N steps (default: it goes on until Ctrl-C)
  --port P          port of the browser-based VS Code (default: a free one)
  --no-editor       without VS Code: the training and its numbers only
  --help            this text

  VRAM_LENS_PYTHON  the Python to train with; it must have PyTorch

Example: npm start -- --leak --simulate 8GiB`;

/** Between two steps, in seconds: fast enough to watch, and the machine stays usable. */
const pause = 0.1;

async function main() {
  const options = readOptions();
  if (options.help) {
    console.log(help);
    return;
  }
  if (options.port !== null && !(await isFree(options.port))) {
    throw new Missing(`Port ${options.port} is busy: choose another with --port, or leave it out to get a free one.`);
  }
  await ensureNodeModules();
  const python = await ensurePython();
  const size = options.simulate ?? (hasGpu(python) ? null : '24GiB');
  if (size !== null) ensureCompiler();
  const { build } = await import('./run/build.mjs');
  await build();

  const home = temporaryFolder('vls-');
  const folder = path.join(root, 'samples');
  if (!options['no-editor']) {
    const { openEditor } = await import('./run/editor.mjs');
    console.log(await openEditor({ folder, home, port: options.port, python }));
  }
  await train({ python, size, options });
}

/** Trains and shows the table until the training ends; with an editor open, until Ctrl-C. */
async function train({ python, size, options }) {
  mkdirSync(out, { recursive: true });
  const log = path.join(out, 'train.log');
  const output = openSync(log, 'w');
  const cli = path.join(root, 'dist/cli.js');
  const training = start(
    process.execPath,
    [
      ...[
        cli,
        'run',
        ...(size === null ? [] : ['--simulate', size]),
        '--',
        python,
        path.join(root, 'samples/train.py'),
      ],
      ...['--device', 'cuda', '--steps', String(options.steps ?? 1_000_000), '--pause', String(pause)],
      ...(options.leak ? ['--leak'] : []),
    ],
    { cwd: root, stdio: ['ignore', output, output] },
  );
  const where = size === null ? 'the GPU' : `a simulated GPU of ${size}`;
  console.log(`samples/train.py trains on ${where}; what it prints: ${path.relative(process.cwd(), log)}`);
  const table = start(process.execPath, [cli, 'watch'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });

  const { code, signal } = await ended(training);
  if (code !== 0) {
    await stopAll();
    const where = path.relative(process.cwd(), log);
    throw new Missing(
      `samples/train.py ended with ${signal ?? `code ${code}`}; the whole output: ${where}\n${lastError(log)}`,
    );
  }
  if (!options['no-editor']) {
    console.log('The training is done; VS Code stays open until Ctrl-C.');
    await ended(table);
  }
  await stopAll();
}

/** The line of a log that says why: the last one of a traceback, else the last that is not our own. */
function lastError(log) {
  const lines = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('vram-lens: '));
  return lines.findLast((line) => /^[\w.]*(Error|Exception|Interrupt|Exit)\b/.test(line)) ?? lines.at(-1);
}

function readOptions() {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        simulate: { type: 'string' },
        leak: { type: 'boolean' },
        steps: { type: 'string' },
        port: { type: 'string' },
        'no-editor': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (error) {
    throw new Missing(`${error.message.split('. ')[0]}; npm start -- --help says what there is.`);
  }
  return { ...values, steps: wholeNumber(values, 'steps', 1e9), port: wholeNumber(values, 'port', 65535) };
}

/** An option that is a whole number from 1 to `most`; null when it is not given. */
function wholeNumber(values, name, most) {
  const text = values[name];
  if (text === undefined) return null;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw new Missing(`--${name} wants a whole number from 1 to ${most}, not ${text}.`);
}

/** Whether the driver shows a GPU and this Python's PyTorch can use it. */
function hasGpu(python) {
  let driver;
  try {
    driver = readdirSync('/proc/driver/nvidia/gpus').length > 0;
  } catch {
    driver = (ask('nvidia-smi', ['-L']) ?? '') !== '';
  }
  return driver && ask(python, ['-c', 'import torch; print(torch.cuda.is_available())']) === 'True';
}

await runMain(main);
