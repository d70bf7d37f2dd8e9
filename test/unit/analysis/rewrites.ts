import type { Parser } from 'web-tree-sitter';
import { applyEdits } from '../../../src/analysis/analyse';
import type { Edit } from '../../../src/analysis/finding';
import type { Node } from '../../../src/analysis/syntax/node';
import { descend, parse } from '../../../src/analysis/syntax/parser';

/** Random numbers that are the same in every run, for one seed. */
export class Random {
  private state: number;

  constructor(seed: string) {
    this.state = [...seed].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16777619), 2166136261);
  }

  /** A whole number from 0, less than `limit`. */
  below(limit: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) | 0;
    return Math.floor(((this.state >>> 0) / 2 ** 32) * limit);
  }

  /** `text` with something taken out, put in, or moved. */
  edit(text: string): string {
    const pieces = [
      '(',
      ')',
      '[',
      '}',
      ':',
      '"',
      "'''",
      '\\',
      '\n',
      '\t',
      '  ',
      '=',
      ',',
      '.',
      '*',
      'del ',
      'for ',
      'é',
      '0',
    ];
    const [at, length] = [this.below(text.length), 1 + this.below(12)];
    const piece = text.slice(at, at + length);
    const without = text.slice(0, at) + text.slice(at + length);
    switch (this.below(3)) {
      case 0:
        return without;
      case 1:
        return `${text.slice(0, at)}${pieces[this.below(pieces.length)] ?? ''}${text.slice(at)}`;
      default: {
        const to = this.below(without.length);
        return without.slice(0, to) + piece + without.slice(to);
      }
    }
  }
}

/** Python with every name of a variable of functions and of the top level replaced: no attributes, parameters, imports. */
export function namesRenamed(source: string, parser: Parser, rename: (name: string) => string): string {
  const root = parse(parser, source);
  const kept = new Set<string>();
  const bound = new Set<string>();
  for (const node of descend(root)) {
    if (node.type === 'assignment' || node.type === 'for_statement' || node.type === 'for_in_clause') {
      const left = node.childForFieldName('left');
      const isField = node.parent?.parent?.parent?.type === 'class_definition';
      for (const target of left === null ? [] : targets(left)) (isField ? kept : bound).add(target);
    }
    // Names that another text may know: of parameters (called by keyword), of what is imported or defined, in f"{x=}".
    if (/^(import|import_from|future_import|global|nonlocal)_statement$/.test(node.type)) keepAll(node, kept);
    if (node.type === 'keyword_argument') kept.add(node.childForFieldName('name')?.text ?? '');
    if (/^(function|class)_definition$/.test(node.type)) kept.add(node.childForFieldName('name')?.text ?? '');
    if (/parameters$/.test(node.type)) keepAll(node, kept);
  }
  const edits: Edit[] = [];
  for (const node of descend(root)) {
    if (node.type !== 'identifier' || !bound.has(node.text) || kept.has(node.text) || isAttribute(node)) continue;
    edits.push({ start: node.startIndex, end: node.endIndex, newText: rename(node.text) });
  }
  return applyEdits(source, edits);
}

function targets(node: Node): string[] {
  if (node.type === 'identifier') return [node.text];
  return /pattern|list|tuple/.test(node.type) ? node.children.flatMap(targets) : [];
}

function keepAll(node: Node, kept: Set<string>): void {
  for (const inner of descend(node)) if (inner.type === 'identifier') kept.add(inner.text);
}

const isAttribute = (node: Node): boolean =>
  node.parent?.type === 'attribute' && node.parent.childForFieldName('attribute') === node;

/**
 * Python that does the same, written otherwise: empty lines and comments between statements, parentheses around right
 * sides, every list of arguments over several lines.
 */
export function reformatted(source: string, parser: Parser): string {
  const edits: Edit[] = [];
  const insert = (at: number, newText: string): void => void edits.push({ start: at, end: at, newText });
  for (const node of descend(parse(parser, source), (one) => one.type !== 'string')) {
    if (node.type === 'assignment' || node.type === 'augmented_assignment') {
      const right = node.childForFieldName('right');
      if (right === null || /^(yield|assignment|expression_list|pattern_list)$/.test(right.type)) continue;
      insert(right.startIndex, '(');
      insert(right.endIndex, ')');
    }
    if (node.type === 'argument_list' && node.children.length > 0) {
      for (const one of node.children) if (one.type !== 'generator_expression') insert(one.startIndex, '\n        ');
    }
    const lineStart = source.lastIndexOf('\n', node.startIndex - 1) + 1;
    if (node.parent?.type === 'block' && source.slice(lineStart, node.startIndex).trim() === '')
      insert(lineStart, '\n# what comes next is as it was\n');
  }
  return inOrder(source, edits);
}

/** Insertions at one place stay in the order they were made in. */
function inOrder(source: string, edits: readonly Edit[]): string {
  const ordered = edits
    .map((edit, index) => ({ edit, index }))
    .sort((a, b) => a.edit.start - b.edit.start || a.index - b.index);
  let at = 0;
  let text = '';
  for (const { edit } of ordered) {
    text += source.slice(at, edit.start) + edit.newText;
    at = edit.end;
  }
  return text + source.slice(at);
}
