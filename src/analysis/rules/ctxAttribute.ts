import { text, type Finding, type Fix } from '../finding';
import { isAutogradFunction, type ClassScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Rule } from './rule';

/**
 * P27 `ctx-attribute`: `forward` of an autograd.Function sets a tensor as an attribute of `ctx`. If it is the result, the
 * two hold each other and only the cyclic collector frees them; otherwise it lives longer than what is saved for backward.
 */
export const ctxAttribute: Rule = {
  slugs: ['ctx-attribute'],
  mentions: /\bautograd\b|\bFunction\b/,
  *find(one, program) {
    const { scope } = one;
    const owner = scope.class;
    if (owner === null || !isAutogradFunction(owner)) return;
    const isSetup = scope.name === 'setup_context';
    if (!isSetup && (scope.name !== 'forward' || owner.methods.has('setup_context'))) return;
    const ctx = scope.parameters[0] ?? '';
    const answers = isSetup ? outputsOf(one) : returnedNames(scope.body);
    for (const { syntax } of one.graph.points) {
      const found = [...storesOn(ctx, syntax)].flatMap(({ left, parts }) =>
        parts.flatMap((kept): Kept[] => {
          const kind = kindOf(kept, syntax, one);
          const isAnswer = answers.has(kept.text) && kind !== 'plain';
          return isAnswer || kind === 'tensor' ? [{ statement: syntax, left, kept, isAnswer }] : [];
        }),
      );
      const worst = found.find(({ isAnswer }) => isAnswer) ?? found[0];
      if (worst !== undefined) yield finding(worst, owner, program.source);
    }
  },
};

/** An attribute of `ctx` that a statement sets, and the names in what it is set to. */
interface CtxStore {
  left: Node;
  parts: Node[];
}

/** `ctx.y = y`, `ctx.y = (x, y)`, `ctx.x, ctx.y = x, y`, `ctx.y = y = f(x)`. */
function* storesOn(ctx: string, statement: Node): Iterable<CtxStore> {
  const targets: Node[] = [];
  let value = assignmentOf(statement);
  while (value?.type === 'assignment') {
    const left = value.childForFieldName('left');
    if (left !== null) targets.push(left);
    value = value.childForFieldName('right');
  }
  if (value === null) return;
  const name = targets.find((target) => target.type === 'identifier');
  for (const target of targets) {
    const lefts = target.type.endsWith('_pattern') || target.type === 'pattern_list' ? children(target) : [target];
    const rights = lefts.length > 1 && isSequence(value) ? children(value) : [name ?? value];
    for (const [index, left] of lefts.entries()) {
      const right = rights[index];
      if (right === undefined || left.type !== 'attribute' || left.childForFieldName('object')?.text !== ctx) continue;
      yield {
        left,
        parts: (isSequence(right) ? children(right) : [right]).filter((part) => part.type === 'identifier'),
      };
    }
  }
}

const isSequence = (node: Node): boolean => ['tuple', 'list', 'expression_list'].includes(node.type);

function kindOf(part: Node, statement: Node, one: Interpreted): 'tensor' | 'plain' | 'unknown' {
  const environment = one.after.get(statement.id);
  const value = environment === undefined ? null : one.evaluator.evaluate(part, environment);
  return value?.kind === 'tensor' ? 'tensor' : value?.kind === 'plain' ? 'plain' : 'unknown';
}

/** Names that `forward` returns as they are. */
function returnedNames(body: Node): Set<string> {
  const names = new Set<string>();
  for (const node of descend(body)) {
    if (node.type !== 'return_statement') continue;
    const [value] = children(node);
    const parts =
      value === undefined ? [] : ['tuple', 'expression_list'].includes(value.type) ? children(value) : [value];
    for (const part of parts) if (part.type === 'identifier') names.add(part.text);
  }
  return names;
}

/** The third parameter of `setup_context`, and the names it is taken apart into. */
function outputsOf({ scope }: Interpreted): Set<string> {
  const output = scope.parameters[2] ?? 'output';
  const names = new Set([output]);
  for (const node of descend(scope.body)) {
    if (node.type !== 'assignment' || node.childForFieldName('right')?.text !== output) continue;
    const left = node.childForFieldName('left');
    for (const name of left === null ? [] : descend(left)) if (name.type === 'identifier') names.add(name.text);
  }
  return names;
}

interface Kept {
  statement: Node;
  /** `ctx.y`. */
  left: Node;
  kept: Node;
  isAnswer: boolean;
}

function finding(of: Kept, owner: ClassScope, source: string): Finding {
  const { statement, left, kept, isAnswer } = of;
  const fix = saveFix(of, owner, source);
  return {
    ...{ rule: 'ctx-attribute', severity: isAnswer ? 'warning' : 'hint' },
    ...{ start: statement.startIndex, end: statement.endIndex },
    message: isAnswer
      ? text(
          '{0} is the result: it leads to its graph, that to ctx, and ctx back to {0}. backward() does not free it; it stays on the GPU until the cyclic collector happens to run. ctx.save_for_backward({0}) makes no such cycle.',
          kept.text,
        )
      : text(
          '{0} is kept as an attribute of ctx: backward() does not free it, so it stays on the GPU as long as anything holds the graph. ctx.save_for_backward({0}) lets it go with the buffers.',
          kept.text,
        ),
    chain: [
      reason(left, text('The node of the graph holds {0} from here on.', kept.text)),
      reason(
        owner.node,
        isAnswer
          ? text('The result of forward holds that node in its grad_fn.')
          : text('The node lives until the graph of {0} is dropped.', owner.name),
      ),
    ],
    fixes: fix === null ? [] : [fix],
  };
}

/** `ctx.save_for_backward(y)`, and `(y,) = ctx.saved_tensors` at the start of `backward`. */
function saveFix({ statement, left, kept }: Kept, owner: ClassScope, source: string): Fix | null {
  const backward = owner.methods.get('backward');
  const ctx = left.childForFieldName('object')?.text ?? '';
  const attribute = left.childForFieldName('attribute')?.text ?? '';
  if (backward === undefined || assignmentOf(statement)?.childForFieldName('right') !== kept) return null;
  if (/\bsaved_tensors\b|save_for_backward/.test(owner.node.text)) return null;
  const own = backward.parameters[0] ?? '';
  const reads = [...descend(owner.node)].filter(
    (node) => node.type === 'attribute' && node !== left && node.childForFieldName('attribute')?.text === attribute,
  );
  const isRead = reads.every(
    (node) =>
      node.childForFieldName('object')?.text === own &&
      node.startIndex >= backward.body.startIndex &&
      node.endIndex <= backward.body.endIndex &&
      !(node.parent?.type === 'assignment' && node.parent.childForFieldName('left') === node),
  );
  const isBound = [...descend(backward.body)].some(
    (node) => node.type === 'identifier' && node.text === kept.text && !isAttributeName(node),
  );
  const [first] = children(backward.body);
  if (!isRead || isBound || first === undefined || backward.parameters.includes(kept.text)) return null;
  if (first.type === 'expression_statement' && children(first)[0]?.type === 'string') return null;
  const indent = source.slice(source.lastIndexOf('\n', first.startIndex - 1) + 1, first.startIndex);
  if (indent.trim() !== '') return null;
  return {
    ...{ title: text('Save it for backward: {0}', `${ctx}.save_for_backward(${kept.text})`), safe: false },
    edits: [
      { start: statement.startIndex, end: statement.endIndex, newText: `${ctx}.save_for_backward(${kept.text})` },
      { start: first.startIndex, end: first.startIndex, newText: `(${kept.text},) = ${own}.saved_tensors\n${indent}` },
      ...reads.map(({ startIndex: start, endIndex: end }) => ({ start, end, newText: kept.text })),
    ],
  };
}

const isAttributeName = (node: Node): boolean =>
  node.parent?.type === 'attribute' && node.parent.childForFieldName('attribute') === node;
