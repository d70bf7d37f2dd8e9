import { text, type Finding, type Range } from '../finding';
import { addition } from '../fixes/statementLines';
import { namesAt } from '../flow/names';
import type { FlowPoint } from '../flow/graph';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import type { TensorValue } from '../values/value';
import { reason } from './keptGraph';
import { computes, isBig } from './lifetimes';
import type { Program, Rule } from './rule';

const marker = /^# ?%%.*$/gm;

/**
 * P11 `notebook-global`: a large tensor that only its own cell reads stays a global of the kernel while later cells
 * compute; a cell that ends in a bare tensor keeps it in `Out`. Cells may run in any order, so a name that another cell
 * reads is left alone.
 */
export const notebookGlobal: Rule = {
  slugs: ['notebook-global'],
  *find(one, program) {
    if (one.scope.body.type !== 'module') return;
    const cells = cellsOf(program);
    if (cells.length < 2) return;
    for (const [index, cell] of cells.entries()) {
      // Whoever deletes in a cell has chosen what to keep.
      if (one.graph.points.some(({ syntax }) => syntax.type === 'delete_statement' && isIn(syntax, cell))) continue;
      const work = workAfter(index, cells, one, program);
      const large = work === null ? [] : onlyReadIn(cell, one);
      const largest = large.find(({ isProduct }) => isProduct) ?? large.at(-1);
      if (work !== null && largest !== undefined) yield globalFinding(largest, large, cell, work, one, program);
      yield* displayed(cell, one, program);
    }
  },
};

/** Cells of a notebook, or of a script with `# %%` lines. */
export function cellsOf({ cells, source }: Program): readonly Range[] {
  if (cells.length > 0) return cells;
  const starts = [...source.matchAll(marker)].map((match) => match.index);
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? source.length }));
}

interface Large {
  name: string;
  statement: Node;
  value: TensorValue;
  /** A product of two matrices: as large as the square of what went in. */
  isProduct: boolean;
}

const isIn = (node: Node, { start, end }: Range): boolean => start <= node.startIndex && node.endIndex <= end;

/** Tensors that a cell binds and no other cell, and no function, reads. */
function onlyReadIn(cell: Range, one: Interpreted): Large[] {
  const names = namesAt(one.graph);
  const readElsewhere = new Set<string>();
  const found: Large[] = [];
  for (const [id, point] of one.graph.points.entries()) {
    if (isIn(point.syntax, cell)) continue;
    for (const name of names[id]?.reads ?? []) readElsewhere.add(name);
    for (const name of names[id]?.writes ?? []) readElsewhere.add(name);
  }
  for (const node of descend(one.scope.body)) {
    if (node.type !== 'function_definition' && node.type !== 'lambda') continue;
    for (const name of descend(node)) if (name.type === 'identifier') readElsewhere.add(name.text);
  }
  for (const point of one.graph.points) {
    const large = isIn(point.syntax, cell) ? largeIn(point, one) : null;
    if (large !== null && !readElsewhere.has(large.name) && !isDeleted(large.name, one)) found.push(large);
  }
  return found;
}

function largeIn({ syntax }: FlowPoint, one: Interpreted): Large | null {
  const assignment = syntax.type === 'expression_statement' ? assignmentOf(syntax) : null;
  const left = assignment?.childForFieldName('left');
  const right = assignment?.childForFieldName('right');
  if (left?.type !== 'identifier' || !right) return null;
  const value = one.after.get(syntax.id)?.get(left.text);
  // What a loop leaves is one batch; what was back-propagated is a result.
  if (value?.kind !== 'tensor' || !isBig(value) || value.freed !== 'no' || isInLoop(syntax)) return null;
  const isProduct = /@|\b(matmul|mm|bmm|cdist|outer|einsum|kron)\b/.test(right.text);
  return { name: left.text, statement: syntax, value, isProduct };
}

function isInLoop(node: Node): boolean {
  for (let at = node.parent; at !== null; at = at.parent) if (/^(for|while)_statement$/.test(at.type)) return true;
  return false;
}

function isDeleted(name: string, one: Interpreted): boolean {
  return namesAt(one.graph).some(({ deletes }) => deletes.has(name));
}

/** The first statement of a later cell that computes with tensors. */
function workAfter(index: number, cells: readonly Range[], one: Interpreted, program: Program): Node | null {
  const later = cells.slice(index + 1);
  for (const { syntax } of one.graph.points) {
    if (later.some((cell) => isIn(syntax, cell)) && computes(syntax, one, program)) return syntax;
  }
  return null;
}

function globalFinding(
  largest: Large,
  large: readonly Large[],
  cell: Range,
  work: Node,
  one: Interpreted,
  { source }: Program,
): Finding {
  const names = large.map(({ name }) => name);
  const top = children(one.scope.body).filter((statement) => isIn(statement, cell));
  const last = top.at(-1);
  const edit = last === undefined ? null : addition(last, `del ${names.join(', ')}`, source);
  return {
    ...{ rule: 'notebook-global', severity: 'warning' },
    ...{ start: largest.statement.startIndex, end: largest.statement.endIndex },
    message: text(
      '{0} stays in GPU memory until the kernel ends: no other cell reads it, and a global never goes out of scope. del {1} at the end of the cell.',
      largest.name,
      names.join(', '),
    ),
    chain: [
      reason(work, text('Cells that run later compute beside it.')),
      ...large
        .filter((other) => other !== largest)
        .map((other) => reason(other.statement, text('{0} is kept in the same way.', other.name))),
    ],
    fixes:
      edit === null
        ? []
        : [
            {
              title: text('Let go of it at the end of the cell: {0}', `del ${names.join(', ')}`),
              safe: false,
              edits: [edit],
            },
          ],
  };
}

/** A cell whose last line is a tensor: IPython displays it and keeps it in `Out`. */
function* displayed(cell: Range, one: Interpreted, { source }: Program): Iterable<Finding> {
  const last = children(one.scope.body).findLast((statement) => isIn(statement, cell));
  const expression = last?.type === 'expression_statement' ? children(last)[0] : undefined;
  const environment = last === undefined ? undefined : one.before.get(last.id);
  if (last === undefined || expression === undefined || environment === undefined) return;
  if (!['call', 'attribute', 'subscript', 'binary_operator'].includes(expression.type)) return;
  // A semicolon says that IPython is to show and keep nothing.
  if (/^[ \t]*;/.test(source.slice(expression.endIndex, cell.end))) return;
  const value = one.evaluator.evaluate(expression, environment);
  if (value.kind !== 'tensor' || !isBig(value) || value.graph !== 'yes') return;
  yield {
    ...{ rule: 'notebook-global', severity: 'hint', start: last.startIndex, end: last.endIndex },
    message: text(
      'The notebook shows this tensor and keeps it, with its graph, in Out. End the cell with a semicolon, or print it.',
    ),
    chain: [reason(expression, text("The value of a cell's last line stays in Out until the kernel ends."))],
    fixes: [
      {
        title: text('Do not keep it: end the line with a semicolon'),
        safe: false,
        edits: [{ start: expression.endIndex, end: expression.endIndex, newText: ';' }],
      },
    ],
  };
}
