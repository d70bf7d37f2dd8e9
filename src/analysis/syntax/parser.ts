import { Language, Parser } from 'web-tree-sitter';
import { copyTree, type Node } from './node';

/** The two WebAssembly files the parser needs, as their bytes: reading files is the caller's business. */
export interface ParserFiles {
  engine: Uint8Array;
  python: Uint8Array;
}

let starting: Promise<unknown> | null = null;

/** A parser for Python. Keep it: making one costs tens of milliseconds. */
export async function createParser(files: ParserFiles): Promise<Parser> {
  starting ??= Parser.init({ wasmBinary: files.engine });
  await starting;
  const parser = new Parser();
  parser.setLanguage(await Language.load(files.python));
  return parser;
}

/** The syntax tree of a file, `origin` 0 for the one that is analysed. Text that is no Python gives a tree with `ERROR` nodes in it. */
export function parse(parser: Parser, source: string, origin = 0): Node {
  const tree = parser.parse(source);
  // It gives up only when it is cancelled, which nobody does.
  if (tree === null) throw new Error('the parser gave up');
  try {
    return copyTree(tree, source, origin).root;
  } finally {
    tree.delete();
  }
}

/** Children of a node; comments are not among them. */
export function children(node: Node): Node[] {
  return node.children;
}

/** `node` and everything below it, in source order; `enter` says whether to go into a node. */
export function* descend(node: Node, enter: (node: Node) => boolean = () => true): Generator<Node> {
  // Not recursive: a generator inside a generator costs at each level, and nesting can be deeper than the stack is.
  const left = [node];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    yield at;
    if (!enter(at)) continue;
    for (let index = at.children.length - 1; index >= 0; index--) left.push(at.children[index] as Node);
  }
}
