import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const cli = path.resolve(import.meta.dirname, '../../../dist/cli.js');

/** A file with one finding, `graph-summed`, in line 4, whose fix is safe. */
export const leak = [
  'import torch',
  'model, total = torch.nn.Linear(2, 2), 0',
  'for x in loader:',
  '    total += model(x).mean()',
  'print(float(total))',
  '',
].join('\n');

export interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** A folder of its own for `vram-lens check`, which runs in it. */
export class CheckFolder {
  readonly path = mkdtempSync(path.join(os.tmpdir(), 'vl-check-'));

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Writes a file, with the folders on its way. */
  write(file: string, content: string | Uint8Array): string {
    const full = path.join(this.path, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  }

  check(args: string[], { input = '', env = {} }: { input?: string; env?: NodeJS.ProcessEnv } = {}): Outcome {
    return spawnSync(process.execPath, [cli, 'check', ...args], {
      ...{ input, encoding: 'utf8', cwd: this.path },
      env: { ...process.env, VRAM_LENS_LANG: 'en', ...env },
    });
  }

  /** The files with findings, of the JSON report. */
  found(args: string[]): string[] {
    const { findings } = JSON.parse(this.check([...args, '--format', 'json']).stdout) as {
      findings: { file: string }[];
    };
    return findings.map(({ file }) => file.replaceAll(path.sep, '/'));
  }
}

/** A notebook whose code cells have these sources, after one of text. */
export function notebookOf(...sources: string[]): string {
  const cells = sources.map((source) => ({
    ...{ cell_type: 'code', execution_count: null, metadata: {}, outputs: [] },
    source: source.match(/[^\n]*\n|[^\n]+$/g) ?? [],
  }));
  const text = { cell_type: 'markdown', metadata: {}, source: ['# é'] };
  const metadata = { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } };
  return `${JSON.stringify({ cells: [text, ...cells], metadata, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
}
