import type { Tree, TreeCursor } from 'web-tree-sitter';

/**
 * One node of the syntax tree in JavaScript: named children only, comments left out. The parser's own nodes live in
 * WebAssembly, where each step from one to another costs microseconds; the analysis takes millions of steps.
 */
export interface Node {
  id: number;
  type: string;
  text: string;
  startIndex: number;
  endIndex: number;
  parent: Node | null;
  children: Node[];
  childForFieldName(name: string): Node | null;
}

class SyntaxNode implements Node {
  readonly children: Node[] = [];
  private fields: Map<string, Node> | null = null;

  constructor(
    private readonly source: string,
    readonly id: number,
    readonly type: string,
    readonly startIndex: number,
    readonly endIndex: number,
    readonly parent: Node | null,
  ) {}

  get text(): string {
    return this.source.slice(this.startIndex, this.endIndex);
  }

  childForFieldName(name: string): Node | null {
    return this.fields?.get(name) ?? null;
  }

  addField(name: string, node: Node): void {
    this.fields ??= new Map();
    if (!this.fields.has(name)) this.fields.set(name, node);
  }
}

/** Copies a tree in one walk; the tree may be deleted afterwards. */
export function copyTree(tree: Tree, source: string): Node {
  const cursor = tree.walk();
  let ids = 0;
  const make = (parent: SyntaxNode | null): SyntaxNode =>
    new SyntaxNode(source, ids++, cursor.nodeType, cursor.startIndex, cursor.endIndex, parent);
  const root = make(null);
  let at = root;
  // Iterative: generated code nests deeper than the stack is.
  const open: (SyntaxNode | null)[] = [];
  let down = cursor.gotoFirstChild();
  if (down) open.push(null);
  while (open.length > 0) {
    const node = visit(cursor, at, make);
    down = cursor.gotoFirstChild();
    if (down) {
      open.push(at);
      at = node ?? at;
      continue;
    }
    while (open.length > 0 && !cursor.gotoNextSibling()) {
      cursor.gotoParent();
      at = open.pop() ?? at;
    }
  }
  cursor.delete();
  return root;
}

/** Takes the cursor's node into `parent`; null where it is left out (its children go to the same parent). */
function visit(cursor: TreeCursor, parent: SyntaxNode, make: (parent: SyntaxNode) => SyntaxNode): SyntaxNode | null {
  const field = cursor.currentFieldName;
  // Operators are anonymous and have no children, but a field of their own.
  if (!cursor.nodeIsNamed && field === null) return null;
  if (cursor.nodeType === 'comment') return null;
  const node = make(parent);
  if (cursor.nodeIsNamed) parent.children.push(node);
  if (field !== null) parent.addField(field, node);
  return node;
}
