import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Parser } from 'web-tree-sitter';
import { createParser } from '../../../src/analysis/syntax/parser';

const resolve = createRequire(__filename).resolve;

/** The parser with the WebAssembly files of the installed packages. */
export function testParser(): Promise<Parser> {
  return createParser({
    engine: readFileSync(resolve('web-tree-sitter/tree-sitter.wasm')),
    python: readFileSync(resolve('tree-sitter-python/tree-sitter-python.wasm')),
  });
}

/** 1-based line of an offset. */
export function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}
