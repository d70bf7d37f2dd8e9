import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Range } from '../../../src/analysis/finding';
import { JoinedCells } from '../../../src/notebooks/joined';
import { readNotebook } from '../../../src/notebooks/notebook';

/** What cases.json measured of a script and of its fixed version. */
export interface Measured {
  quantity: string;
  before: number;
  after: number;
  /** The line before which the memory was sampled. */
  probeLine: number;
}

/** A script with what the analysis must say of it. */
export interface Labelled {
  name: string;
  /** Of a notebook the code cells, joined. */
  source: string;
  cells: readonly Range[];
  /** 1-based lines that are right for the finding; null where there is nothing to find. */
  leak: { rule: string; lines: readonly number[] } | null;
  /** Lines where a finding is neither asked for nor wrong. */
  tolerated: readonly number[];
  measured: Measured | null;
}

/** The scripts that are shared between the projects; they are not part of this repository. */
export const sharedFolder = process.env['VRAM_LENS_SHARED'] ?? path.resolve(__dirname, '../../../../shared');
const ownFolder = path.resolve(__dirname, '../../cases');

interface SharedCase {
  file: string;
  label: 'leak' | 'clean';
  catalogue_id: string;
  line: number | null;
  also_accept: number[];
  tolerated_lines?: number[];
  fixed_file?: string;
  probe_line: number;
  proof?: { quantity: string; before: number; after: number };
}

/** The rules' names by their numbers in the catalogue: `P01` → `graph-summed`. */
function slugs(): Map<string, string> {
  const catalogue = readFileSync(path.join(sharedFolder, 'RULES.md'), 'utf8');
  return new Map([...catalogue.matchAll(/^\*\*(P\d\d) `([\w-]+)`/gm)].map(([, id = '', slug = '']) => [id, slug]));
}

/** The scripts of the shared folder and their fixed versions; none where the folder is missing. */
export function sharedScripts(): Labelled[] {
  const folder = path.join(sharedFolder, 'cases');
  if (!existsSync(path.join(folder, 'cases.json'))) return [];
  const slugOf = slugs();
  const { cases } = JSON.parse(readFileSync(path.join(folder, 'cases.json'), 'utf8')) as { cases: SharedCase[] };
  const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
  return cases.flatMap((one) => {
    const { file, fixed_file: fixed, proof } = one;
    const rule = slugOf.get(one.catalogue_id);
    if (one.label === 'leak' && rule === undefined) throw new Error(`${one.catalogue_id} is not in RULES.md`);
    const plain = { cells: [], leak: null, tolerated: [], measured: null };
    const script: Labelled = {
      ...{ ...plain, name: file, source: read(file), tolerated: one.tolerated_lines ?? [] },
      leak: one.label === 'leak' && rule !== undefined ? { rule, lines: [one.line ?? 0, ...one.also_accept] } : null,
      measured: proof === undefined ? null : { ...proof, probeLine: one.probe_line },
    };
    return fixed === undefined ? [script] : [script, { ...plain, name: fixed, source: read(fixed) }];
  });
}

/**
 * The scripts of `test/cases`. Comments in them say what is right: `# expect: slug` at the finding's line, `# also:` at
 * others that are equally right, `# tolerated` where a finding is not wrong.
 */
export function ownScripts(): Labelled[] {
  const files = readdirSync(ownFolder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(leak|fixed|clean)\.(py|ipynb)$/.test(file))
    .sort()
    .map((file) => {
      const { source, cells } = readCode(path.join(ownFolder, file));
      const lines = source.split('\n');
      const marked = (mark: string): number[] => lines.flatMap((line, at) => (line.includes(mark) ? [at + 1] : []));
      const rule = /# expect: ([\w-]+)/.exec(source)?.[1];
      return {
        ...{ name: file.replaceAll(path.sep, '/'), source, cells, measured: null, tolerated: marked('# tolerated') },
        leak: rule === undefined ? null : { rule, lines: [...marked('# expect:'), ...marked('# also:')] },
      };
    });
}

function readCode(file: string): { source: string; cells: readonly Range[] } {
  const content = readFileSync(file, 'utf8');
  if (!file.endsWith('.ipynb')) return { source: content, cells: [] };
  const notebook = readNotebook(content);
  if ('reason' in notebook) throw new Error(`${file} is no notebook: ${notebook.reason}`);
  const joined = new JoinedCells(notebook.cells);
  return { source: joined.text, cells: joined.ranges };
}
