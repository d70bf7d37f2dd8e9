import type { Language, Node as TreeSitterNode, Tree, TreeCursor } from 'web-tree-sitter';

/**
 * One node of the syntax tree in JavaScript: named children only, comments and parentheses around right sides left out. The parser's own nodes live in
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

/** The text of a tree, shared by its nodes: after an edit they go on with the new one. */
export interface SourceText {
  text: string;
}

class SyntaxNode implements Node {
  readonly children: Node[] = [];
  isPlain = false;
  private fields: Map<string, Node> | null = null;

  constructor(
    private readonly source: SourceText,
    readonly id: number,
    readonly type: string,
    public startIndex: number,
    public endIndex: number,
    public parent: Node | null,
  ) {}

  get text(): string {
    return this.source.text.slice(this.startIndex, this.endIndex);
  }

  /** Puts another child, with its field, in the place of one. */
  replace(old: Node, node: SyntaxNode): void {
    this.children[this.children.indexOf(old)] = node;
    for (const [name, field] of this.fields ?? []) if (field === old) this.fields?.set(name, node);
    node.parent = this;
  }

  childForFieldName(name: string): Node | null {
    return this.fields?.get(name) ?? null;
  }

  addField(name: string, node: Node): void {
    this.fields ??= new Map();
    if (!this.fields.has(name)) this.fields.set(name, node);
  }
}

/** What the parser's types are, by their number; looked up once per language, since every question costs. */
interface Kind {
  type: string;
  isNamed: boolean;
  /** Nothing of interest below. */
  isLeaf: boolean;
  /** Its children have no field names that anybody asks for. */
  isPlain: boolean;
}

const leaves = new Set(
  (
    'identifier integer float true false none ellipsis comment string_start string_content string_end escape_sequence ' +
    'type_conversion pass_statement break_statement continue_statement line_continuation'
  ).split(' '),
);
const plainParents = new Set(
  (
    'module block argument_list list tuple set dictionary expression_statement parameters expression_list ' +
    'pattern_list tuple_pattern list_pattern string return_statement import_prefix dotted_name parenthesized_expression ' +
    'delete_statement raise_statement assert_statement with_clause interpolation slice'
  ).split(' '),
);
/** Their operator is anonymous and has no children, but a field of its own. */
const withOperators = new Set(
  'binary_operator boolean_operator augmented_assignment unary_operator comparison_operator'.split(' '),
);

/** `x = (y)` is read as `x = y`: parentheses around all of a right side say nothing. */
const withoutParentheses = new Set(['assignment', 'augmented_assignment', 'return_statement']);

const kinds = new WeakMap<Language, Kind[]>();

function kindOf(id: number, language: Language): Kind {
  let known = kinds.get(language);
  if (known === undefined) kinds.set(language, (known = []));
  let kind = known[id];
  if (kind === undefined) {
    const type = language.nodeTypeForId(id) ?? 'ERROR';
    const isNamed = type === 'ERROR' || language.nodeTypeIsNamed(id);
    kind = { type, isNamed, isLeaf: !isNamed || leaves.has(type), isPlain: plainParents.has(type) };
    known[id] = kind;
  }
  return kind;
}

/** Ids of the nodes of different files differ: each file has its own range. */
const nodesPerFile = 10_000_000;

/** Which file a node is of: 0 for the one that is analysed, others for files that it imports. */
export function originOf(node: Node): number {
  return Math.floor(node.id / nodesPerFile);
}

/** A copied tree, and what copying a part of it anew needs. */
export interface CopiedTree {
  root: Node;
  source: SourceText;
  nextId: number;
}

/** Copies a tree in one walk; the tree may be deleted afterwards. */
export function copyTree(tree: Tree, source: string, origin = 0): CopiedTree {
  const cursor = tree.walk();
  const copied = { source: { text: source }, nextId: origin * nodesPerFile };
  const root = copyBelow(cursor, tree.language, copied);
  cursor.delete();
  return { ...copied, root };
}

/**
 * Copies the part of an edited tree at `node` into the place of `old`, and moves what lies behind it: the rest of the
 * tree is the same but for its offsets.
 */
export function replacePart(copied: CopiedTree, old: Node, node: TreeSitterNode, source: string): void {
  const parent = old.parent;
  if (!(parent instanceof SyntaxNode)) return;
  const by = node.endIndex - old.endIndex;
  const end = old.endIndex;
  copied.source.text = source;
  const left: Node[] = [copied.root];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    // Parts before it stay; the part itself goes.
    if (at === old || at.endIndex < end || (at.endIndex === end && at.startIndex >= old.startIndex)) continue;
    if (at.startIndex >= end) at.startIndex += by;
    at.endIndex += by;
    left.push(...fieldsAndChildren(at));
  }
  for (let at: Node | null = parent; at !== null; at = at.parent) if (at.endIndex === end) at.endIndex += by;
  const cursor = node.walk();
  parent.replace(old, copyBelow(cursor, node.tree.language, copied));
  cursor.delete();
}

/** Operators have a field and are no children. */
function fieldsAndChildren(node: Node): Node[] {
  const operator = node.childForFieldName('operator');
  return operator === null || node.children.includes(operator) ? node.children : [...node.children, operator];
}

/** Copies what a cursor is at, and everything below it. */
function copyBelow(cursor: TreeCursor, language: Language, copied: Omit<CopiedTree, 'root'>): SyntaxNode {
  const make = (type: string, parent: SyntaxNode | null): SyntaxNode =>
    new SyntaxNode(copied.source, copied.nextId++, type, cursor.startIndex, cursor.endIndex, parent);
  const root = make(cursor.nodeType, null);
  root.isPlain = plainParents.has(root.type);
  let parent = root;
  // Iterative: generated code nests deeper than the stack is.
  const open: SyntaxNode[] = [];
  /** Field of the parentheses that the cursor is in and that are left out. */
  let around: string | null = null;
  let there = cursor.gotoFirstChild();
  while (there) {
    const kind = kindOf(cursor.nodeTypeId, language);
    if (kind.type === 'parenthesized_expression' && withoutParentheses.has(parent.type)) {
      around ??= parent.isPlain ? null : cursor.currentFieldName;
      if (cursor.gotoFirstChild()) {
        open.push(parent);
        continue;
      }
    }
    let node: SyntaxNode | null = null;
    if (kind.isNamed ? kind.type !== 'comment' : withOperators.has(parent.type)) {
      const field: string | null = parent.isPlain ? null : ((kind.isNamed ? around : null) ?? cursor.currentFieldName);
      if (kind.isNamed) around = null;
      if (kind.isNamed || field !== null) {
        node = make(kind.type, parent);
        if (kind.isNamed) parent.children.push(node);
        if (field !== null) parent.addField(field, node);
        node.isPlain = kind.isPlain;
      }
    }
    const isRead = kind.type !== 'string' || (node !== null && isFormatted(copied.source.text, node.startIndex));
    if (!kind.isLeaf && node !== null && isRead && cursor.gotoFirstChild()) {
      open.push(parent);
      parent = node;
      continue;
    }
    while (!(there = cursor.gotoNextSibling()) && open.length > 0) {
      cursor.gotoParent();
      parent = open.pop() ?? root;
    }
  }
  return root;
}

/** Only a string with an `f` before its quotes has expressions in it. */
function isFormatted(source: string, start: number): boolean {
  for (let at = start; at < start + 3; at++) {
    const letter = source[at];
    if (letter === 'f' || letter === 'F' || letter === 't' || letter === 'T') return true;
    if (letter === '"' || letter === "'") return false;
  }
  return false;
}
