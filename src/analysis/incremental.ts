import type { Parser, Tree } from 'web-tree-sitter';
import { analyse, programOf, reportable, type AnalyseOptions } from './analyse';
import type { Finding } from './finding';
import { backPropagatesAnything, callReaches, reachOf } from './flow/backward';
import { loopsAround } from './flow/loops';
import { backwardIn } from './flow/training';
import { rules } from './rules/registry';
import { gradMode } from './scopes/gradMode';
import { readImported } from './scopes/imported';
import { readModule, scopeAround, type FunctionScope, type Linked, type ModuleScope } from './scopes/module';
import { copyTree, replacePart, type CopiedTree, type Node } from './syntax/node';
import { descend } from './syntax/parser';
import { Interpretation } from './values/program';

/** What is known of the last text of a document. */
interface Known {
  source: string;
  tree: Tree;
  copied: CopiedTree;
  linked: Linked;
  module: ModuleScope;
  values: Interpretation;
  /** What each rule found in each function, before one speaks for another. */
  found: Map<FunctionScope, Finding[][]>;
}

/**
 * Analyses one document again and again. After an edit within the body of one function only that function, and those that
 * it has something new to say to, are read again; what the rest has to do with it is compared before and after. Any other
 * edit is analysed from the start. The answer is that of `analyse` in any case.
 */
export class IncrementalAnalysis {
  private known: Known | null = null;

  constructor(private readonly parser: Parser) {}

  analyse(source: string, options: AnalyseOptions = {}): Finding[] {
    const known = this.known;
    // Cells move with every edit; imported files may have changed.
    const isPlain = options.cells === undefined || options.cells.length === 0;
    if (!isPlain || !/\b(torch|lightning)\b/.test(source)) {
      this.forget();
      return analyse(this.parser, source, options);
    }
    if (known !== null && known.source === source) return merged(known, source);
    const next = known === null ? null : this.update(known, source);
    if (next !== null) return merged(next, source);
    this.forget();
    this.known = this.begin(source, options);
    return merged(this.known, source);
  }

  /** Drops what is known: a file that the document imports has changed, or it is closed. */
  forget(): void {
    this.known?.tree.delete();
    this.known = null;
  }

  private begin(source: string, options: AnalyseOptions): Known {
    const { files, linked } = readImported(this.parser, source, options.resolve ?? (() => null));
    const tree = this.parser.parse(source);
    // It gives up only when it is cancelled, which nobody does.
    if (tree === null) throw new Error('the parser gave up');
    const copied = copyTree(tree, source);
    const module = readModule(copied.root, linked);
    const values = new Interpretation(module, files);
    const known: Known = { source, tree, copied, linked, module, values, found: new Map() };
    look(known, new Set(module.scopes));
    return known;
  }

  /** Null where the edit is not within one function's body, or changes what others make of it. */
  private update(known: Known, source: string): Known | null {
    const edit = difference(known.source, source);
    const definition = functionAt(known.copied.root, edit.start, edit.oldEnd);
    const body = definition?.childForFieldName('body') ?? null;
    const scope = definition === null ? undefined : known.module.scopeOf.get(definition.id);
    if (definition === null || body === null || scope === undefined) return null;
    const tree = this.parse(known, source, edit);
    const part = tree === null ? null : samePart(tree, known, definition, body, source);
    if (tree === null || part === null) {
      tree?.delete();
      return null;
    }
    const before = outward(scope, known);
    replacePart(known.copied, body, part, source);
    known.tree.delete();
    // From here on the old state is gone: what is not kept is read from the start.
    this.known = null;
    const module = readModule(known.copied.root, known.linked, known.module);
    const read = known.values.update(module);
    const next: Known = { ...known, source, tree, module };
    const fresh = module.scopeOf.get(definition.id);
    if (fresh === undefined || outward(fresh, next) !== before) {
      tree.delete();
      return null;
    }
    const { found, stale } = shifted(known, next, edit, body, read);
    next.found = found;
    // What they hold of the old body is read anew.
    for (const scope of stale.size === 0 ? [] : known.values.read(stale)) read.add(scope);
    look(next, read);
    this.known = next;
    return next;
  }

  private parse(known: Known, source: string, { start, oldEnd, newEnd }: Edit): Tree | null {
    if (known.tree.rootNode.hasError) return null;
    known.tree.edit({
      ...{ startIndex: start, oldEndIndex: oldEnd, newEndIndex: newEnd },
      startPosition: positionAt(known.source, start),
      oldEndPosition: positionAt(known.source, oldEnd),
      newEndPosition: positionAt(source, newEnd),
    });
    return this.parser.parse(source, known.tree);
  }
}

interface Edit {
  start: number;
  oldEnd: number;
  newEnd: number;
}

/** The part of a text that is another in the next one. */
function difference(before: string, after: string): Edit {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { start, oldEnd: before.length - end, newEnd: after.length - end };
}

function positionAt(text: string, offset: number): { row: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.lastIndexOf('\n');
  return { row: before.split('\n').length - 1, column: offset - line - 1 };
}

/** The outermost function (or method of a class of the top level) whose body has the whole edit inside. */
function functionAt(root: Node, start: number, end: number): Node | null {
  let at: Node | null = root;
  while (at !== null) {
    if (at.type === 'function_definition') {
      const body = at.childForFieldName('body');
      return body !== null && body.startIndex < start && end < body.endIndex ? at : null;
    }
    at = at.children.find((child) => child.startIndex < start && end < child.endIndex) ?? null;
  }
  return null;
}

/** The function's new body, where the tree is the same outside of it. */
function samePart(tree: Tree, known: Known, definition: Node, body: Node, source: string) {
  if (tree.rootNode.hasError) return null;
  const end = body.endIndex + source.length - known.source.length;
  const changed = known.tree.getChangedRanges(tree);
  if (changed.some((range) => range.startIndex < body.startIndex || range.endIndex > end)) return null;
  let at = tree.rootNode.descendantForIndex(definition.startIndex, definition.startIndex);
  while (at !== null && (at.type !== 'function_definition' || at.startIndex !== definition.startIndex)) at = at.parent;
  const part = at?.childForFieldName('body') ?? null;
  return part !== null && part.startIndex === body.startIndex && part.endIndex === end ? part : null;
}

/**
 * What the rest of the file has to do with a function beyond its values: whom it calls and how, which attributes it
 * touches, what of its parameters it back-propagates.
 */
function outward(scope: FunctionScope, { module, values }: Known): string {
  const facts: string[] = [];
  for (const node of descend(scope.body)) {
    switch (node.type) {
      case 'call': {
        const target = node.childForFieldName('function');
        const name = target?.childForFieldName('attribute')?.text ?? target?.text ?? '';
        const isOwn = module.named.has(name) || module.methods.has(name) || module.classes.has(name);
        const around = scopeAround(node, module) ?? scope;
        if (isOwn)
          facts.push(
            `call ${name} ${gradMode(node, module)} ${loopsAround(node).length > 0} ${callReaches(node, module, new Set([around.node.id]))}`,
          );
        else facts.push(`call ${name}`);
        break;
      }
      case 'attribute':
        facts.push(`attribute ${node.parent?.type} ${node.text}`);
        break;
      case 'global_statement':
      case 'nonlocal_statement':
      case 'import_statement':
      case 'import_from_statement':
      case 'class_definition':
        facts.push(node.text);
        break;
      case 'function_definition':
      case 'lambda':
        facts.push(`inner ${node.childForFieldName('name')?.text}`);
        break;
      case 'delete_statement':
      case 'yield':
        facts.push(node.type);
    }
  }
  if (backPropagatesAnything(module)) {
    const { taken, backward, result } = reachOf(scope, module);
    const flowing = [backward.start, result.start, ...backward.after, ...result.after];
    const attributes = new Set(flowing.flatMap((names) => [...names].filter((name) => name.includes('.'))));
    facts.push(`taken ${[...taken].sort().join()} ${backwardIn(scope, module)} ${[...attributes].sort().join()}`);
  }
  facts.push(`hook ${values.isHook(scope)}`);
  return facts.sort().join('\n');
}

/** Runs the rules over functions, those that look far over all of them. */
function look(known: Known, scopes: ReadonlySet<FunctionScope>): void {
  const program = programOf(known.values, known.module, known.source, []);
  const looking = rules.map((rule) => rule.mentions?.test(known.source) !== false);
  for (const one of program.functions) {
    const old = known.found.get(one.scope);
    const isNew = old === undefined || scopes.has(one.scope);
    known.found.set(
      one.scope,
      rules.map((rule, index) => {
        if (!isNew && rule.wide !== true) return old[index] ?? [];
        return looking[index] === true ? [...rule.find(one, program)] : [];
      }),
    );
  }
}

/**
 * Findings of functions that were not read again, behind the edit moved with their text. Where one points into the edited
 * body, or a rule has become of interest by the text, the function is stale.
 */
function shifted(
  known: Known,
  next: Known,
  edit: Edit,
  body: Node,
  read: ReadonlySet<FunctionScope>,
): { found: Map<FunctionScope, Finding[][]>; stale: Set<FunctionScope> } {
  const by = edit.newEnd - edit.oldEnd;
  const oldBodyEnd = body.endIndex;
  const isSameInterest = rules.every(
    (rule) => rule.mentions === undefined || rule.mentions.test(known.source) === rule.mentions.test(next.source),
  );
  const found = new Map<FunctionScope, Finding[][]>();
  const stale = new Set<FunctionScope>();
  for (const scope of next.module.scopes) {
    const old = known.found.get(scope);
    if (old === undefined || read.has(scope)) continue;
    const places = old.flat().flatMap(placesOf);
    const isInside = places.some((place) => place > body.startIndex && place < oldBodyEnd);
    if (isInside || !isSameInterest) {
      stale.add(scope);
      continue;
    }
    found.set(
      scope,
      old.map((list) => list.map((finding) => moved(finding, oldBodyEnd, by))),
    );
  }
  return { found, stale };
}

function placesOf(finding: Finding): number[] {
  const ranges = [finding, ...finding.chain, ...finding.fixes.flatMap((fix) => fix.edits)];
  return ranges.flatMap(({ start, end }) => [start, end]);
}

function moved(finding: Finding, from: number, by: number): Finding {
  const shift = <T extends { start: number; end: number }>(range: T): T => ({
    ...range,
    start: range.start >= from ? range.start + by : range.start,
    end: range.end >= from ? range.end + by : range.end,
  });
  return {
    ...shift(finding),
    chain: finding.chain.map(shift),
    fixes: finding.fixes.map((fix) => ({ ...fix, edits: fix.edits.map(shift) })),
  };
}

/** All findings, in the order of the rules: of two on one statement the earlier rule speaks. */
function merged({ found, module }: Known, source: string): Finding[] {
  const inOrder = rules.flatMap((_, index) => module.scopes.flatMap((scope) => found.get(scope)?.[index] ?? []));
  return reportable(inOrder, source);
}
