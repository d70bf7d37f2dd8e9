import { Language, Parser, type Node, type Tree } from 'web-tree-sitter';

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

/** @throws Error when the parser gives up, which it does only when it is cancelled. */
export function parse(parser: Parser, source: string): Tree {
  const tree = parser.parse(source);
  if (tree === null) throw new Error('the parser gave up');
  return tree;
}

/** Named children, without the nulls of the library's types. */
export function children(node: Node): Node[] {
  return node.namedChildren.filter((child): child is Node => child !== null && child.type !== 'comment');
}

/** `node` and everything below it, in source order; `enter` says whether to go into a node. */
export function* descend(node: Node, enter: (node: Node) => boolean = () => true): Generator<Node> {
  yield node;
  if (!enter(node)) return;
  for (const child of children(node)) yield* descend(child, enter);
}

/** The nearest enclosing node of one of `types`, not beyond `limit`. */
export function enclosing(node: Node, types: readonly string[], limit: Node | null = null): Node | null {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (types.includes(at.type)) return at;
    if (limit !== null && at.id === limit.id) return null;
  }
  return null;
}

export function isInside(node: Node, outer: Node): boolean {
  return node.startIndex >= outer.startIndex && node.endIndex <= outer.endIndex;
}
