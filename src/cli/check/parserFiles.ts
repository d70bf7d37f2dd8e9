import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { createParser } from '../../analysis/syntax/parser';

/** A parser from the WebAssembly files in `home`. */
export async function openParser(home: string): Promise<Parser> {
  const [engine, python] = await Promise.all(
    ['tree-sitter.wasm', 'tree-sitter-python.wasm'].map((name) => readFile(path.join(home, name))),
  );
  return createParser({ engine: engine as Uint8Array, python: python as Uint8Array });
}
