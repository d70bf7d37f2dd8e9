import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import type { Parser } from 'web-tree-sitter';
import { analyse, applyEdits } from '../analysis/analyse';
import type { Finding } from '../analysis/finding';
import { ruleSlugs } from '../analysis/rules/registry';
import { createParser } from '../analysis/syntax/parser';
import { oneOf, parse } from './arguments';
import { checkText, findingObject, unifiedDiff, type CheckedFile } from './checkReport';
import { UsageError } from './usageError';

/** Fixing goes on until nothing changes; a fix that brought its own finding back would never end. */
const mostFixRounds = 100;
const skippedFolders = new Set(['node_modules', '__pycache__', 'site-packages', 'build', 'dist', 'venv']);

const notThere = ['baseline', 'write-baseline', 'jobs', 'explain'] as const;

/** `vram-lens check`. Exit code 1 with findings, 2 when a path cannot be read. */
export async function checkCommand(args: string[], home: string): Promise<number> {
  const { values, positionals } = parse(args, {
    fix: { type: 'boolean' },
    'unsafe-fixes': { type: 'boolean' },
    diff: { type: 'boolean' },
    select: { type: 'string' },
    ignore: { type: 'string' },
    'exit-zero': { type: 'boolean' },
    format: { type: 'string' },
    baseline: { type: 'string' },
    'write-baseline': { type: 'string' },
    jobs: { type: 'string' },
    explain: { type: 'string' },
  });
  for (const option of notThere) {
    if (values[option] !== undefined) throw new UsageError(l10n.t('"--{0}" is not there yet in this version.', option));
  }
  if (values.format === 'sarif' || values.format === 'github') {
    throw new UsageError(l10n.t('"--{0}" is not there yet in this version.', `format ${values.format}`));
  }
  const format = oneOf(values.format, '--format', ['text', 'json']);
  if (positionals.length === 0)
    throw new UsageError(l10n.t('Which file or folder? For example: vram-lens check train.py'));
  const wanted = ruleFilter(values.select, values.ignore);
  const paths = await pythonFiles(positionals);
  const parser = await openParser(home);

  const files: CheckedFile[] = [];
  const skipped: { file: string; reason: string }[] = [];
  for (const file of paths) {
    const before = decode(file === '-' ? await readStandardInput() : await readFile(file));
    if (before === null || before.includes('\0')) {
      skipped.push({ file, reason: l10n.t('not a text file in UTF-8') });
      continue;
    }
    try {
      const fixing = values.fix === true || values.diff === true;
      const after = fixing ? fixed(parser, before, wanted, values['unsafe-fixes'] === true) : before;
      files.push({ file, before, after, findings: analyse(parser, after).filter(wanted) });
    } catch (error) {
      skipped.push({ file, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  for (const { file, before, after } of files) {
    if (values.diff === true) process.stdout.write(unifiedDiff(file, before, after));
    else if (after !== before && file !== '-') await writeFile(file, after);
  }
  if (values.diff !== true) report(files, skipped, format);
  const found = files.some(({ findings }) => findings.length > 0);
  return found && values['exit-zero'] !== true ? 1 : 0;
}

function report(files: CheckedFile[], skipped: { file: string; reason: string }[], format: 'text' | 'json'): void {
  if (format === 'json') {
    const findings = files.flatMap((file) => file.findings.map((finding) => findingObject(finding, file)));
    const linesAnalysed = files.reduce((sum, { after }) => sum + after.split('\n').length, 0);
    process.stdout.write(`${JSON.stringify({ version: 1, findings, skipped, files: files.length, linesAnalysed })}\n`);
    return;
  }
  process.stdout.write(checkText(files));
  for (const { file, reason } of skipped) process.stderr.write(`${file}: ${l10n.t('skipped: {0}', reason)}\n`);
}

/** Applies one fix at a time, the preferred one, until none that may be applied is left. */
function fixed(parser: Parser, source: string, wanted: (finding: Finding) => boolean, unsafe: boolean): string {
  let text = source;
  for (let round = 0; round < mostFixRounds; round++) {
    const fixes = analyse(parser, text)
      .filter(wanted)
      .flatMap((finding) => finding.fixes);
    const fix = fixes.find((one) => one.safe || unsafe);
    if (fix === undefined) break;
    text = applyEdits(text, fix.edits);
  }
  return text;
}

function ruleFilter(select: string | undefined, ignore: string | undefined): (finding: Finding) => boolean {
  const rules = (list: string | undefined): string[] | null => {
    if (list === undefined) return null;
    const named = list.split(',').map((rule) => rule.trim());
    const unknown = named.find((rule) => !(ruleSlugs as readonly string[]).includes(rule));
    if (unknown === undefined) return named;
    throw new UsageError(l10n.t('There is no rule "{0}"; there are: {1}.', unknown, ruleSlugs.join(', ')));
  };
  const selected = rules(select);
  const ignored = rules(ignore) ?? [];
  return ({ rule }) => (selected === null || selected.includes(rule)) && !ignored.includes(rule);
}

async function openParser(home: string): Promise<Parser> {
  const [engine, python] = await Promise.all(
    ['tree-sitter.wasm', 'tree-sitter-python.wasm'].map((name) => readFile(path.join(home, name))),
  );
  return createParser({ engine: engine as Uint8Array, python: python as Uint8Array });
}

/** The Python files of the arguments; folders are searched, hidden and installed ones left out. */
async function pythonFiles(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const one of paths) {
    if (one === '-') {
      files.push(one);
      continue;
    }
    const status = await stat(one).catch(() => null);
    if (status === null) throw new UsageError(l10n.t('{0} is not there, or cannot be read.', one));
    if (status.isDirectory()) files.push(...(await search(one)));
    else if (one.endsWith('.ipynb')) throw new UsageError(l10n.t('Notebooks are not checked yet in this version.'));
    else files.push(one);
  }
  return files;
}

async function search(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('.') && !skippedFolders.has(entry.name)) found.push(...(await search(full)));
    } else if (entry.isFile() && entry.name.endsWith('.py')) found.push(full);
  }
  return found;
}

/** Null for what is no UTF-8: written back after a fix, other encodings would come out damaged. A BOM is kept. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

async function readStandardInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
