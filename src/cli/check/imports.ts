import { readFileSync } from 'node:fs';
import path from 'node:path';
import { decodePython } from './decode';

/**
 * Finds what a file imports, among the files of its project: beside it, and from the working directory and its `src`, where
 * scripts and packages are run from. Answers the text of a module, or null; each is read once.
 */
export function importsOf(file: string): (moduleName: string) => string | null {
  const folder = path.dirname(path.resolve(file));
  const known = new Map<string, string | null>();
  return (moduleName) => {
    const before = known.get(moduleName);
    if (before !== undefined) return before;
    const text = moduleText(moduleName, folder);
    known.set(moduleName, text);
    return text;
  };
}

function moduleText(moduleName: string, folder: string): string | null {
  const [, dots = '', name = ''] = /^(\.*)(.*)$/.exec(moduleName) ?? [];
  // One dot is the file's own package, every further one the package around it.
  const up = path.join(folder, ...Array.from({ length: Math.max(0, dots.length - 1) }, () => '..'));
  const roots = dots === '' ? [folder, path.resolve(), path.resolve('src')] : [up];
  for (const root of roots) {
    const base = path.join(root, ...name.split('.'));
    for (const file of name === ''
      ? [path.join(base, '__init__.py')]
      : [`${base}.py`, path.join(base, '__init__.py')]) {
      const text = read(file);
      if (text !== null) return text;
    }
  }
  return null;
}

function read(file: string): string | null {
  try {
    const decoded = decodePython(readFileSync(file));
    return 'encode' in decoded ? decoded.text : null;
  } catch {
    return null;
  }
}
