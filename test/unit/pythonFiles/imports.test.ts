import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProjectImports } from '../../../src/pythonFiles/imports';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'vl-imports-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(file: string, text: string): string {
  const full = path.join(root, file);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

const resolveFrom = (folder: string, name: string, imports = new ProjectImports()): string | null =>
  imports.from(path.join(root, folder), [root]).resolve(name);

describe('what a module name means', () => {
  beforeEach(() => {
    write('net.py', 'top');
    write('models/__init__.py', 'models');
    write('models/net.py', 'models.net');
    write('models/heads/__init__.py', 'heads');
    write('models/heads/mlp.py', 'mlp');
    write('src/lib/util.py', 'lib.util');
    write('deep/pkg/__init__.py', '');
    write('deep/pkg/inner/__init__.py', '');
    write('deep/pkg/model.py', 'deep model');
  });

  it.each([
    ['', 'net', 'top'],
    ['', 'models', 'models'],
    ['', 'models.net', 'models.net'],
    ['scripts', 'models.heads.mlp', 'mlp'],
    ['models', 'net', 'models.net'],
    ['models', '.net', 'models.net'],
    ['models', '.', 'models'],
    ['models/heads', '..net', 'models.net'],
    ['models/heads', '..', 'models'],
    ['', 'lib.util', 'lib.util'],
    ['deep/pkg/inner', 'pkg.model', 'deep model'],
    ['', 'torch', null],
    ['models', '.missing', null],
  ])('in %j: %s', (folder, name, text) => expect(resolveFrom(folder, name)).toBe(text));
});

describe('a text that was read', () => {
  it('is read again when its file changes', () => {
    const imports = new ProjectImports();
    const file = write('net.py', 'one');
    expect(resolveFrom('', 'net', imports)).toBe('one');
    writeFileSync(file, 'two');
    utimesSync(file, 5, 5);
    expect(resolveFrom('', 'net', imports)).toBe('two');
    rmSync(file);
    expect(resolveFrom('', 'net', imports)).toBe(null);
  });

  it('gives way to that of an open document', () => {
    const file = write('net.py', 'saved');
    const imports = new ProjectImports((one) => (one === file ? 'typed' : null));
    expect(resolveFrom('', 'net', imports)).toBe('typed');
  });

  it('is none where the file is too large, binary or a folder', () => {
    write('large.py', 'x'.repeat(3 * 1024 * 1024));
    write('binary.py', 'a\0b');
    mkdirSync(path.join(root, 'folder.py'));
    expect(['large', 'binary', 'folder'].map((name) => resolveFrom('', name))).toEqual([null, null, null]);
  });

  it('names the files that would be read instead if they were there', () => {
    write('net/__init__.py', 'package');
    const found = new ProjectImports().from(root, []);
    found.resolve('net');
    expect([...found.lookedFor]).toEqual([path.join(root, 'net.py'), path.join(root, 'net/__init__.py')]);
  });
});
