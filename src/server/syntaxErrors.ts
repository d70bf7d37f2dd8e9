import type { Node, Parser, Tree } from 'web-tree-sitter';

/** How many places of a text are no Python. */
export function countErrors(parser: Parser, text: string): number {
  return withTree(parser, text, ({ rootNode }) => errorsIn(rootNode));
}

/**
 * Where the parts of a file begin that can be broken one by one: statements of the top level and of classes there, whole
 * functions among them. The first part begins at 0, and each reaches up to the next.
 */
export function partStarts(parser: Parser, text: string): number[] {
  return withTree(parser, text, ({ rootNode }) => {
    const starts = [0];
    const add = (node: Node): void => {
      const lineStart = text.lastIndexOf('\n', node.startIndex - 1) + 1;
      if (node.type !== 'comment' && lineStart > (starts.at(-1) ?? 0)) starts.push(lineStart);
    };
    for (const node of rootNode.namedChildren) {
      if (node === null) continue;
      add(node);
      const definition = node.type === 'decorated_definition' ? node.childForFieldName('definition') : node;
      const body = definition?.type === 'class_definition' ? definition.childForFieldName('body') : null;
      for (const inner of body?.namedChildren ?? []) if (inner !== null) add(inner);
    }
    return starts;
  });
}

function errorsIn(node: Node): number {
  if (node.isError || node.isMissing) return 1;
  if (!node.hasError) return 0;
  return node.children.reduce((sum, child) => sum + (child === null ? 0 : errorsIn(child)), 0);
}

function withTree<T>(parser: Parser, text: string, read: (tree: Tree) => T): T {
  const tree = parser.parse(text);
  // It gives up only when it is cancelled, which nobody does.
  if (tree === null) throw new Error('the parser gave up');
  try {
    return read(tree);
  } finally {
    tree.delete();
  }
}
