import type { Parser } from 'web-tree-sitter';
import { parse } from '../syntax/parser';
import { readModule, type ClassScope, type FunctionScope, type Linked, type ModuleScope } from './module';

/** Text of the file that an import of the analysed one means (`models.net`, `.net`); null where it is not at hand. */
export type Resolve = (moduleName: string) => string | null;

/** What imported files may add: more would make one file's analysis one of the whole project. */
const mostFiles = 12;
const mostCharacters = 400_000;

const importing = /^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b|import[ \t]+([\w.]+))/gm;

/** The files that a text imports, one level deep, and their classes and functions by the names it has for them. */
export function readImported(
  parser: Parser,
  source: string,
  resolve: Resolve,
): { files: ModuleScope[]; linked: Linked } {
  const files: ModuleScope[] = [];
  const linked = new Map<string, ClassScope | FunctionScope>();
  const names = new Set([...source.matchAll(importing)].map((match) => match[1] ?? match[2] ?? ''));
  let characters = 0;
  for (const name of names) {
    const text = files.length < mostFiles ? resolve(name) : null;
    // Files without torch have no tensors to tell of.
    if (text === null || !/\btorch\b/.test(text) || (characters += text.length) > mostCharacters) continue;
    const file = readModule(parse(parser, text, files.length + 1));
    files.push(file);
    for (const [own, scope] of file.classes) linked.set(`${name}.${own}`, scope);
    for (const [own, scope] of file.functions) linked.set(`${name}.${own}`, scope);
  }
  return { files, linked };
}
