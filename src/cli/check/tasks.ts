import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { UsageError } from '../usageError';
import { nameFrom, readBaseline, type Baseline } from './baseline';
import type { Tables } from './config';
import type { Options } from './options';
import type { Task } from './task';

/** Makes each file's task of the options and of the table that counts for the file. */
export class TaskMaker {
  private readonly baselines = new Map<string, Baseline>();

  constructor(
    private readonly options: Options,
    private readonly tables: Tables,
  ) {}

  task(file: string, bytes: Uint8Array | null): Task {
    const { options } = this;
    const table = this.tables.forFolder(path.resolve(file === '-' ? '' : path.dirname(file)));
    const baselineFile = options.baseline ?? table?.baseline ?? null;
    const name = nameFrom(path.resolve(baselineFile === null ? '' : path.dirname(baselineFile)), file);
    const baseline = baselineFile === null || options.writeBaseline ? [] : this.known(baselineFile).get(name);
    const changing = options.fix || options.diff;
    return {
      ...{ file, bytes, name, baseline: baseline ?? [] },
      select: options.select ?? table?.select ?? null,
      ignore: options.ignore ?? table?.ignore ?? [],
      fix: !changing ? 'none' : options.unsafe ? 'all' : 'safe',
      writes: options.fix && !options.diff,
    };
  }

  /** Where `--write-baseline` writes to. */
  baselineFile(): string {
    const file = this.options.baseline ?? this.tables.forFolder(path.resolve())?.baseline ?? null;
    if (file === null) throw new UsageError(l10n.t('Which file? For example: --write-baseline --baseline known.json'));
    return file;
  }

  private known(file: string): Baseline {
    const baseline = this.baselines.get(file) ?? readBaseline(file);
    this.baselines.set(file, baseline);
    return baseline;
  }
}
