import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { UsageError } from '../usageError';
import { writeAtomically } from './atomicWrite';
import type { CheckedFile } from './result';

/** Fingerprints of known findings, by what the baseline calls their file. */
export type Baseline = ReadonlyMap<string, readonly string[]>;

/** What a baseline calls a file: its path from the baseline's folder, so that both can move together. */
export function nameFrom(folder: string, file: string): string {
  return file === '-' ? file : path.relative(folder, path.resolve(file)).replaceAll(path.sep, '/');
}

/** @throws UsageError when there is none, or it cannot be read */
export function readBaseline(file: string): Baseline {
  let entries: unknown;
  try {
    const root: unknown = JSON.parse(readFileSync(file, 'utf8'));
    entries = root instanceof Object && 'findings' in root ? root.findings : null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new UsageError(l10n.t('There is no baseline {0}; --write-baseline makes it.', file));
    }
    throw new UsageError(l10n.t('The baseline {0} cannot be read.', file));
  }
  if (!Array.isArray(entries) || !entries.every(isEntry)) {
    throw new UsageError(l10n.t('The baseline {0} cannot be read.', file));
  }
  const baseline = new Map<string, string[]>();
  for (const entry of entries) baseline.set(entry.file, [...(baseline.get(entry.file) ?? []), entry.fingerprint]);
  return baseline;
}

/** Records every finding, and answers how many there are. The same findings give the same bytes. */
export function writeBaseline(file: string, files: readonly CheckedFile[]): number {
  const folder = path.dirname(path.resolve(file));
  const findings = files
    .flatMap((one) =>
      one.findings.map(({ rule, fingerprint }) => ({ file: nameFrom(folder, one.file), rule, fingerprint })),
    )
    .sort((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
  writeAtomically(file, Buffer.from(`${JSON.stringify({ version: 1, findings }, null, 1)}\n`));
  return findings.length;
}

function isEntry(value: unknown): value is { file: string; fingerprint: string } {
  if (!(value instanceof Object) || !('file' in value) || !('fingerprint' in value)) return false;
  return typeof value.file === 'string' && typeof value.fingerprint === 'string';
}
