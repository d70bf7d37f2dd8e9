import { text, type Finding, type Fix } from '../finding';
import { loopsAround } from '../flow/loops';
import { isInside } from '../flow/within';
import { callsWithin, isInner, keyword, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { namesIn } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { models } from '../values/sites';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';

/**
 * P37 `dataloader-in-loop`: the same DataLoader with persistent workers is made in every round, or an iterator over one with
 * workers for a single batch: each starts processes of its own, with their copies of the data set.
 */
export const dataloaderInLoop: Rule = {
  slugs: ['dataloader-in-loop'],
  *find(one, program) {
    for (const { syntax, own } of one.graph.points) {
      const [loop] = loopsAround(syntax);
      if (loop === undefined || /^[[({]/.test(loop.childForFieldName('right')?.text ?? '')) continue;
      for (const call of own.flatMap((part) => [...callsWithin(part)])) {
        const loader = isLoader(call, one) && isPersistent(call);
        if (loader && isSameEachRound(call, loop) && !makesModel(loop, one))
          yield loaderFinding(call, syntax, loop, program);
        const made = firstBatchOf(call, one, program);
        if (made !== null) yield batchFinding(call, made, loop);
      }
    }
  },
};

function isLoader(call: Node, one: Interpreted): boolean {
  const target = call.childForFieldName('function');
  return target !== null && /^torch\.utils\.data\.(dataloader\.)?DataLoader$/.test(one.evaluator.dotted(target) ?? '');
}

function isPersistent(call: Node): boolean {
  const value = keyword(call, 'persistent_workers');
  return value?.type === 'true' || value?.type === 'comparison_operator';
}

/** Nothing that it is made of changes from round to round. */
function isSameEachRound(call: Node, loop: Node): boolean {
  const used = new Set(namesIn(call.childForFieldName('arguments') ?? call));
  for (const node of descend(loop, (inner) => !isInner(inner))) {
    const left = /^(assignment|augmented_assignment|for_statement)$/.test(node.type)
      ? node.childForFieldName('left')
      : null;
    const binds = left === null ? [] : namesIn(left);
    if (binds.some((name) => used.has(name)) && !isInside(call, left as Node)) return false;
  }
  return true;
}

/** A loop over trials or folds: each has a model of its own. */
function makesModel(loop: Node, one: Interpreted): boolean {
  for (const { syntax } of one.graph.points) {
    if (!isInside(syntax, loop)) continue;
    const after = one.after.get(syntax.id);
    const left = children(syntax)[0]?.childForFieldName('left');
    const value = left ? after?.get(left.text) : undefined;
    if (value !== undefined && models(value.holds).some(({ node }) => isInside(node, loop))) return true;
  }
  return false;
}

function loaderFinding(call: Node, statement: Node, loop: Node, { source }: Program): Finding {
  const fix = moveFix(call, statement, loop, source);
  return {
    ...{ rule: 'dataloader-in-loop', severity: 'hint', start: call.startIndex, end: call.endIndex },
    message: text(
      'Every round makes this DataLoader anew, and persistent_workers=True keeps its processes, with their copies of the data set and their pinned memory, until the old loader is collected: host memory for two of them, and a slow start each time. Made once before the loop, its workers serve all rounds.',
    ),
    chain: [
      reason(loop, text('Nothing that the loader is made of changes in this loop.')),
      reason(keyword(call, 'persistent_workers') ?? call, text('Its workers are to stay after a pass over the data.')),
    ],
    fixes: fix === null ? [] : [fix],
  };
}

/** The statement goes in front of the loop. */
function moveFix(call: Node, statement: Node, loop: Node, source: string): Fix | null {
  if (statement.parent?.parent !== loop || children(statement)[0]?.childForFieldName('right') !== call) return null;
  const lineOf = (at: number): number => source.lastIndexOf('\n', at - 1) + 1;
  const start = lineOf(statement.startIndex);
  const indent = source.slice(lineOf(loop.startIndex), loop.startIndex);
  const inner = source.slice(start, statement.startIndex);
  const newline = source.indexOf('\n', statement.endIndex);
  const end = newline < 0 ? source.length : newline + 1;
  if (indent.trim() !== '' || inner.trim() !== '' || children(statement.parent).length < 2) return null;
  if (!/^\s*(#.*)?\s*$/.test(source.slice(statement.endIndex, end))) return null;
  const lines = source
    .slice(start, end)
    .split('\n')
    .map((line) => (line.startsWith(inner) ? indent + line.slice(inner.length) : line));
  return {
    ...{ title: text('Make it once, before the loop'), safe: false },
    edits: [
      { start: lineOf(loop.startIndex), end: lineOf(loop.startIndex), newText: lines.join('\n') },
      { start, end, newText: '' },
    ],
  };
}

/** `next(iter(loader))`, where the loader has workers: the call that makes the loader. */
function firstBatchOf(call: Node, one: Interpreted, { module }: Program): Node | null {
  const [inner] = call.childForFieldName('function')?.text === 'next' ? positional(call) : [];
  if (inner?.type !== 'call' || inner.childForFieldName('function')?.text !== 'iter') return null;
  const [loader] = positional(inner);
  if (loader === undefined || !/^(identifier|attribute)$/.test(loader.type)) return null;
  const bound = [...descend(module.root)].filter(
    (node) => node.type === 'assignment' && node.childForFieldName('left')?.text === loader.text,
  );
  const [made] = bound.map((node) => node.childForFieldName('right'));
  if (bound.length !== 1 || made?.type !== 'call' || !isLoader(made, one)) return null;
  return /^[1-9]\d*$/.test(keyword(made, 'num_workers')?.text ?? '') &&
    keyword(made, 'persistent_workers')?.type !== 'true'
    ? made
    : null;
}

function batchFinding(call: Node, made: Node, loop: Node): Finding {
  return {
    ...{ rule: 'dataloader-in-loop', severity: 'hint', start: call.startIndex, end: call.endIndex },
    message: text(
      'Each round starts all workers of the loader anew, lets them prepare several batches and uses one: host memory and time for the rest. One iterator made before the loop, with next() in it, keeps them.',
    ),
    chain: [
      reason(made, text('The loader works with processes of its own.')),
      reason(loop, text('Every round of this loop makes a new iterator.')),
    ],
    fixes: [],
  };
}
