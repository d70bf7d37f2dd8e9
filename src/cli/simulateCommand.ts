import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { agentEnvironment } from '../sessions/environment';
import { descendsFrom } from '../sessions/processTable';
import { GiB } from '../shared/units';
import { formatSize } from '../shared/sizes';
import { deviceSizes, oneOf, parse } from './arguments';
import { startChild } from './childProcess';
import { openHub } from './client';
import { SimulationRecorder, type SimulationReport } from './simulationReport';
import { lastFailure } from './traceback';
import { UsageError } from './usageError';

/** The end of standard error that is kept to find the last traceback in. */
const keptErrorCharacters = 256 * 1024;
const lastMessagesMs = 100;

/** `vram-lens simulate`. Exit code 1 when the script ran out of memory, 2 when it failed. */
export async function simulateCommand(args: string[], home: string): Promise<number> {
  const split = args.indexOf('--');
  const scriptArgs = split < 0 ? [] : args.slice(split + 1);
  const { values, positionals } = parse(split < 0 ? args : args.slice(0, split), {
    gpu: { type: 'string' },
    estimate: { type: 'boolean' },
    python: { type: 'string' },
    format: { type: 'string' },
  });
  const format = oneOf(values.format, '--format', ['text', 'json']);
  const [script, ...more] = positionals;
  if (script === undefined || more.length > 0) {
    throw new UsageError(l10n.t('Bad arguments: name one script; its own arguments follow after --.'));
  }
  if (!existsSync(script) || !statSync(script).isFile()) throw new UsageError(l10n.t('There is no file {0}.', script));
  if (values.estimate === true) throw new UsageError(l10n.t('--estimate is not there yet in this version.'));
  const sizes = deviceSizes(values.gpu, '--gpu') ?? [24 * GiB];
  const python = values.python ?? activePython();
  await requireTorch(python);

  const env = { ...process.env, ...agentEnvironment(process.env, { home, simulate: sizes.join(',') }) };
  const child = await startChild([python, script, ...scriptArgs], env, ['inherit', format === 'json' ? 2 : 1, 'pipe']);
  const hub = openHub(10, (pid) => descendsFrom(pid, child.pid));
  const recorder = new SimulationRecorder(hub);
  const watching = hub.watch();
  let errors = '';
  child.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    errors = (errors + text).slice(-keptErrorCharacters);
  });
  const { code, signal } = await child.ended;
  await new Promise((resolve) => setTimeout(resolve, lastMessagesMs));
  watching.dispose();
  const report = recorder.report(sizes, signal === null ? code : null, lastFailure(errors));
  process.stdout.write(format === 'json' ? `${JSON.stringify(report)}\n` : `${reportText(report)}\n`);
  return report.verdict === 'fits' ? 0 : report.verdict === 'oom' ? 1 : 2;
}

function reportText(report: SimulationReport): string {
  // Nothing was simulated, so there are no figures.
  if (report.mode === null) return verdictSentence(report);
  const lines = [verdictSentence(report)];
  for (const device of report.devices) {
    const size = (name: string): string => {
      const bytes = device[name];
      return bytes === null || bytes === undefined ? '–' : formatSize(bytes);
    };
    lines.push(
      l10n.t(
        'Simulated GPU {0}, {1}: peak used {2}, peak reserved {3}, stranded at the end {4}',
        String(device['index']),
        size('totalBytes'),
        size('peakUsedBytes'),
        size('peakReservedBytes'),
        size('strandedBytes'),
      ),
    );
  }
  lines.push(l10n.t('Not modelled: {0}', report.notModelled.join(', ')));
  return lines.join('\n');
}

function verdictSentence(report: SimulationReport): string {
  switch (report.verdict) {
    case 'fits':
      return report.mode === null ? l10n.t('The script ended well and used no GPU.') : l10n.t('Fits.');
    case 'oom':
      return report.oom?.file === null || report.oom === null
        ? l10n.t('Runs out of memory.')
        : l10n.t('Runs out of memory at {0}:{1}.', report.oom.file ?? '', report.oom.line ?? 0);
    case 'failed':
      return l10n.t('The script failed: {0}', report.error ?? '');
  }
}

/** The active virtual environment's Python, else the one on the path. */
function activePython(): string {
  const environment = process.env['VIRTUAL_ENV'] ?? process.env['CONDA_PREFIX'];
  const windows = process.platform === 'win32';
  if (environment !== undefined && environment !== '') {
    const python = windows ? path.join(environment, 'Scripts', 'python.exe') : path.join(environment, 'bin', 'python');
    if (existsSync(python)) return python;
  }
  return windows ? 'python' : 'python3';
}

/** @throws UsageError when the interpreter cannot be started or has no torch. */
async function requireTorch(python: string): Promise<void> {
  const code = 'import importlib.util, sys; sys.exit(0 if importlib.util.find_spec("torch") else 3)';
  const child = spawn(python, ['-c', code], { stdio: 'ignore' });
  let result: unknown;
  try {
    [result] = (await once(child, 'close')) as unknown[];
  } catch {
    throw new UsageError(l10n.t('{0} cannot be started: {1}.', python, l10n.t('there is no such program')));
  }
  if (result === 3)
    throw new UsageError(l10n.t('{0} has no PyTorch: install torch there, or choose another with --python.', python));
  if (result !== 0) throw new UsageError(l10n.t('{0} is not a working Python.', python));
}
