import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import ignore, { type Ignore } from 'ignore';
import { parse } from 'smol-toml';
import { UsageError } from '../usageError';
import { knownRules } from './rules';

/** `[tool.vram-lens]` of one `pyproject.toml`. */
export interface Table {
  file: string;
  folder: string;
  /** Null: all. */
  select: readonly string[] | null;
  ignore: readonly string[] | null;
  /** Null: none. */
  baseline: string | null;
  /** Whether `exclude` names a path; its patterns are those of `.gitignore`. */
  excludes(file: string, isFolder: boolean): boolean;
}

/** The tables of the folders that are looked into, each read once. */
export class Tables {
  private readonly known = new Map<string, Table | null>();

  /** @param warn what is told a sentence for a person */
  constructor(private readonly warn: (sentence: string) => void) {}

  /** The table of the nearest `pyproject.toml` that has one, from `folder` upwards. */
  forFolder(folder: string): Table | null {
    const known = this.known.get(folder);
    if (known !== undefined) return known;
    const above = path.dirname(folder);
    const table = this.read(folder) ?? (above === folder ? null : this.forFolder(above));
    this.known.set(folder, table);
    return table;
  }

  private read(folder: string): Table | null {
    const file = path.join(folder, 'pyproject.toml');
    let toml: string;
    try {
      toml = readFileSync(file, 'utf8');
    } catch {
      return null;
    }
    // Somebody else's broken file is somebody else's business.
    if (!toml.includes('vram-lens')) return null;
    return tableOf(file, toml, this.warn);
  }
}

function tableOf(file: string, toml: string, warn: (sentence: string) => void): Table | null {
  const values = toolTable(file, toml);
  if (values === null) return null;
  const folder = path.dirname(file);
  const take = new Taker(file, values);
  const select = take.list('select');
  const ignored = take.list('ignore');
  const exclude = take.list('exclude');
  const baseline = take.text('baseline');
  for (const rule of [...(select ?? []), ...(ignored ?? [])]) {
    if (!knownRules().includes(rule)) throw new UsageError(l10n.t('{0}: there is no rule "{1}".', file, rule));
  }
  for (const key of Object.keys(values).filter((one) => !take.taken.has(one))) {
    warn(l10n.t('{0}: [tool.vram-lens] knows no "{1}"; it knows: {2}.', file, key, [...take.taken].join(', ')));
  }
  const patterns = ignore().add([...(exclude ?? [])]);
  return {
    ...{ file, folder, select, ignore: ignored },
    baseline: baseline === null ? null : path.resolve(folder, baseline),
    excludes: (one, isFolder) => matches(patterns, folder, one, isFolder),
  };
}

function toolTable(file: string, toml: string): Record<string, unknown> | null {
  let root: unknown;
  try {
    root = parse(toml);
  } catch (error) {
    const [first] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new UsageError(l10n.t('{0} is no TOML: {1}', file, first ?? ''));
  }
  const tool = isRecord(root) ? root['tool'] : undefined;
  const table = isRecord(tool) ? tool['vram-lens'] : undefined;
  if (table === undefined) return null;
  if (!isRecord(table)) throw new UsageError(l10n.t('{0}: tool.vram-lens has to be a table.', file));
  return table;
}

/** Whether patterns of a folder match a path below it. */
export function matches(patterns: Ignore, folder: string, file: string, isFolder: boolean): boolean {
  const below = relativeBelow(folder, file);
  return below !== null && patterns.ignores(isFolder ? `${below}/` : below);
}

/** `file` from `folder` with forward slashes; null when it is not below it. */
export function relativeBelow(folder: string, file: string): string | null {
  const below = path.relative(folder, file).replaceAll(path.sep, '/');
  return below === '' || below === '..' || below.startsWith('../') || path.isAbsolute(below) ? null : below;
}

/** Takes values of the right kind out of a table, and remembers which it was asked for. */
class Taker {
  readonly taken = new Set<string>();

  constructor(
    private readonly file: string,
    private readonly values: Record<string, unknown>,
  ) {}

  list(key: string): string[] | null {
    const value = this.take(key);
    if (value === undefined) return null;
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
    throw new UsageError(l10n.t('{0}: "{1}" has to be a list of strings.', this.file, key));
  }

  text(key: string): string | null {
    const value = this.take(key);
    if (value === undefined) return null;
    if (typeof value === 'string') return value;
    throw new UsageError(l10n.t('{0}: "{1}" has to be a string.', this.file, key));
  }

  private take(key: string): unknown {
    this.taken.add(key);
    return this.values[key];
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
