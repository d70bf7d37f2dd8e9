import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { relativeBelow } from './config';

/** What the `.gitignore` files between a repository's top and a path say about it. */
export class GitIgnores {
  private readonly patterns = new Map<string, Ignore | null>();

  /** @param top the folder above which no `.gitignore` counts */
  constructor(private readonly top: string) {}

  ignores(file: string, isFolder: boolean): boolean {
    // The deepest file that has a word for the path decides.
    for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
      const below = relativeBelow(folder, file);
      const answer = below === null ? undefined : this.of(folder)?.test(isFolder ? `${below}/` : below);
      if (answer?.ignored === true) return true;
      if (answer?.unignored === true || folder === this.top || folder === path.dirname(folder)) return false;
    }
  }

  private of(folder: string): Ignore | null {
    let patterns = this.patterns.get(folder);
    if (patterns === undefined) {
      const files = [path.join(folder, '.gitignore')];
      if (folder === this.top) files.unshift(path.join(folder, '.git/info/exclude'));
      const texts = files.map(readText).filter((one) => one !== null);
      patterns = texts.length === 0 ? null : ignore().add(texts.join('\n'));
      this.patterns.set(folder, patterns);
    }
    return patterns;
  }
}

/** The ignore files that count below a named folder. One that ignores the folder itself does not: it was named. */
export function gitIgnoresFor(folder: string): GitIgnores {
  const top = repositoryTop(folder);
  const outer = new GitIgnores(top ?? folder);
  return folder !== top && outer.ignores(folder, true) ? new GitIgnores(folder) : outer;
}

function repositoryTop(folder: string): string | null {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return null;
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
