import { existsSync, readdirSync, statSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { text } from '../../analysis/finding';
import type { Tables } from './config';
import { gitIgnoresFor, type GitIgnores } from './gitIgnores';
import { reasonOf } from './read';
import type { SkippedFile } from './result';

/** Folders of installed packages and of caches. */
const skippedFolders = new Set(['node_modules', 'site-packages', '__pycache__']);
const endings = /\.(?:pyw?|ipynb)$/i;

export interface SearchResult {
  /** In the order of the arguments, inside a folder by name. Each file once. */
  files: string[];
  skipped: SkippedFile[];
}

/** The files that the arguments name, and the Python files and notebooks in the folders that they name. */
export function search(paths: readonly string[], tables: Tables): SearchResult {
  const result: SearchResult = { files: [], skipped: [] };
  const seen = new Set<string>();
  const add = (file: string): void => {
    const full = file === '-' ? file : path.resolve(file);
    if (!seen.has(full)) result.files.push(file);
    seen.add(full);
  };
  for (const one of paths) {
    try {
      if (one === '-') add(one);
      else if (statSync(one).isDirectory()) new Walk(tables, gitIgnoresFor(path.resolve(one)), add, result).enter(one);
      else addNamed(one, tables, add, result);
    } catch (error) {
      result.skipped.push({ file: one, reason: reasonOf(error), failed: true });
    }
  }
  return result;
}

function addNamed(file: string, tables: Tables, add: (file: string) => void, result: SearchResult): void {
  const full = path.resolve(file);
  const table = tables.forFolder(path.dirname(full));
  // Hooks name every file that was changed, and `exclude` is meant for them too.
  if (table?.excludes(full, false) === true) {
    result.skipped.push({ file, reason: text('excluded in {0}', table.file), failed: false });
  } else {
    add(file);
  }
}

class Walk {
  constructor(
    private readonly tables: Tables,
    private readonly gitIgnores: GitIgnores,
    private readonly add: (file: string) => void,
    private readonly result: SearchResult,
  ) {}

  enter(folder: string): void {
    for (const entry of this.entries(folder)) {
      const shown = path.join(folder, entry.name);
      const full = path.resolve(shown);
      const isFolder = entry.isDirectory();
      // Links are left out: what they lead to is here under its own name, or is somebody else's.
      if (!isFolder && !(entry.isFile() && endings.test(entry.name))) continue;
      if (entry.name.startsWith('.') || this.isLeftOut(full, isFolder)) continue;
      if (!isFolder) this.add(shown);
      else if (!skippedFolders.has(entry.name) && !isEnvironment(full)) this.enter(shown);
    }
  }

  private entries(folder: string): Dirent[] {
    try {
      const entries = readdirSync(folder, { withFileTypes: true });
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      this.result.skipped.push({ file: folder, reason: reasonOf(error), failed: true });
      return [];
    }
  }

  private isLeftOut(full: string, isFolder: boolean): boolean {
    const table = this.tables.forFolder(path.dirname(full));
    return table?.excludes(full, isFolder) === true || this.gitIgnores.ignores(full, isFolder);
  }
}

/** A virtual environment of Python's `venv` or of conda. */
function isEnvironment(folder: string): boolean {
  return existsSync(path.join(folder, 'pyvenv.cfg')) || existsSync(path.join(folder, 'conda-meta'));
}
