import * as l10n from '@vscode/l10n';
import { UsageError } from '../usageError';
import { writeBaseline } from './baseline';
import { Tables } from './config';
import { explainRule } from './explain';
import type { Report } from './formats/report';
import { readOptions, type Options } from './options';
import { tellSkipped, warn, writeReport } from './output';
import { Progress } from './progress';
import { search } from './search';
import { TaskMaker } from './tasks';
import type { Task } from './task';
import { defaultJobs, examineAll } from './workers';
import { writeFixed } from './writeFixed';

/** `vram-lens check`. Exit code 1 with findings, 2 when something could not be read. */
export async function checkCommand(args: string[], home: string): Promise<number> {
  const options = readOptions(args);
  if (options.explain !== null) {
    process.stdout.write(explainRule(options.explain, options.format === 'json' ? 'json' : 'text'));
    return 0;
  }
  const tables = new Tables(warn);
  const { files, skipped } = search(options.paths, tables);
  const maker = new TaskMaker(options, tables);
  const tasks: Task[] = [];
  for (const file of files) tasks.push(maker.task(file, file === '-' ? await readStandardInput() : null));
  const results = await examineShown(tasks, options, home);
  const checked = results.flatMap((result) => ('checked' in result ? [result.checked] : []));
  skipped.push(...results.flatMap((result) => ('skipped' in result ? [result.skipped] : [])));

  if (options.writeBaseline) return recordBaseline(maker.baselineFile(), { files: checked, skipped }, options);
  if (options.fix && !options.diff) skipped.push(...writeFixed(checked));
  const report = { files: checked, skipped };
  writeReport(report, options, home);
  return exitCode(report, options);
}

/** Examines with a progress line; Ctrl-C takes the line away and ends quietly. */
async function examineShown(tasks: readonly Task[], { jobs }: Options, home: string): ReturnType<typeof examineAll> {
  const progress = new Progress(tasks.length);
  const interrupted = (): void => {
    progress.clear();
    process.kill(process.pid, 'SIGINT');
  };
  process.once('SIGINT', interrupted);
  try {
    return await examineAll(tasks, { jobs: jobs ?? defaultJobs(tasks.length), home, onDone: progress.tick });
  } finally {
    process.off('SIGINT', interrupted);
    progress.clear();
  }
}

function recordBaseline(file: string, report: Report, options: Options): number {
  let count: number;
  try {
    count = writeBaseline(file, report.files);
  } catch (error) {
    throw new UsageError(l10n.t('{0} cannot be written: {1}', file, error instanceof Error ? error.message : ''));
  }
  tellSkipped(report.skipped);
  process.stderr.write(`${l10n.t('Findings written to {1}: {0}.', count, file)}\n`);
  return exitCode({ files: [], skipped: report.skipped }, options);
}

function exitCode({ files, skipped }: Report, { exitZero }: Options): number {
  if (exitZero) return 0;
  if (skipped.some(({ failed }) => failed)) return 2;
  return files.some(({ findings }) => findings.length > 0) ? 1 : 0;
}

async function readStandardInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
