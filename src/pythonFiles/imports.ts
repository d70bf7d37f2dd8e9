import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { decodePython } from './decode';

/** In MiB. The analysis takes less than this of all imports of a file together. */
const largestImported = 2;
/** Texts kept: a project's files import a few dozen of its own again and again. */
const mostTexts = 200;

/** What a file imports: the text of a module as its name is written (`models.net`, `.net`, `..pkg.mod`), or null. */
export interface FileImports {
  resolve(moduleName: string): string | null;
  /** The files that were given, and those that would have been before them if they were there. */
  readonly lookedFor: ReadonlySet<string>;
}

interface KnownText {
  modifiedMs: number;
  bytes: number;
  text: string | null;
}

/** Finds modules among the files of a project, and keeps their texts until the files change. */
export class ProjectImports {
  private readonly known = new Map<string, KnownText>();

  /** @param openText the text of a file that is open in an editor, which counts more than what is on the disk */
  constructor(private readonly openText: (file: string) => string | null = () => null) {}

  /**
   * For the files of one folder. Modules are looked for beside the file, above its package, and in the `roots` and their
   * `src`, where scripts and packages are run from.
   */
  from(folder: string, roots: readonly string[]): FileImports {
    const lookedFor = new Set<string>();
    const places = [folder, abovePackage(folder), ...roots.flatMap((root) => [root, path.join(root, 'src')])];
    const resolve = (moduleName: string): string | null => {
      for (const file of candidates(moduleName, folder, [...new Set(places)])) {
        lookedFor.add(file);
        const text = this.openText(file) ?? this.read(file);
        if (text !== null) return text;
      }
      return null;
    };
    return { resolve, lookedFor };
  }

  private read(file: string): string | null {
    try {
      const stat = statSync(file, { throwIfNoEntry: false });
      if (stat === undefined || !stat.isFile() || stat.size > largestImported * 1024 * 1024) return null;
      const before = this.known.get(file);
      if (before?.modifiedMs === stat.mtimeMs && before.bytes === stat.size) return before.text;
      const decoded = decodePython(readFileSync(file));
      const text = 'encode' in decoded ? decoded.text : null;
      const [oldest] = this.known.size >= mostTexts ? this.known.keys() : [];
      if (oldest !== undefined) this.known.delete(oldest);
      this.known.set(file, { modifiedMs: stat.mtimeMs, bytes: stat.size, text });
      return text;
    } catch {
      return null; // no permission, or a folder in the way
    }
  }
}

/** The files that may be a module, the first that is there counts. */
function candidates(moduleName: string, folder: string, places: readonly string[]): string[] {
  const [, dots = '', name = ''] = /^(\.*)(.*)$/.exec(moduleName) ?? [];
  // One dot is the file's own package, every further one the package around it.
  const bases = dots === '' ? places : [path.join(folder, ...Array.from({ length: dots.length - 1 }, () => '..'))];
  return bases.flatMap((base) => {
    const module = path.join(base, ...name.split('.'));
    const asPackage = path.join(module, '__init__.py');
    return name === '' ? [asPackage] : [`${module}.py`, asPackage];
  });
}

/** The folder that the outermost package around a folder lies in; the folder itself where it is no package. */
function abovePackage(folder: string): string {
  let at = folder;
  while (existsSync(path.join(at, '__init__.py')) && path.dirname(at) !== at) at = path.dirname(at);
  return at;
}
