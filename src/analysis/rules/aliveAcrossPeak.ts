import { text, type Finding } from '../finding';
import { letGoAtEnd, letGoBefore, lettingGo } from '../fixes/release';
import { ownFunctions } from '../flow/backward';
import { backwardCallIn } from '../flow/training';
import { namesAt } from '../flow/names';
import { isInside } from '../flow/within';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import type { Value } from '../values/value';
import { reason } from './keptGraph';
import { computes, deadAfter, innermostLoop, isCertainlyBound, livenessIn, type Dead } from './lifetimes';
import type { Program, Rule } from './rule';
import { storesOf } from './stores';

/**
 * P18 `alive-across-peak`: a large value that nothing reads any more stays bound while the next large one is made: the
 * output of the last round during the next forward, the last batch of a training loop during the evaluation.
 */
export const aliveAcrossPeak: Rule = {
  slugs: ['alive-across-peak'],
  *find(one, program) {
    yield* fromRoundToRound(one, program);
    if (one.scope.body.type !== 'module') yield* fromLoopToPhase(one, program);
  },
};

/** The output of one round is alive while the next one's is computed. */
function* fromRoundToRound(one: Interpreted, program: Program): Iterable<Finding> {
  // Inside a module it is one of its layers.
  if (one.scope.class?.isModule === true) return;
  const kept = new Map<Node, { name: string; statement: Node }[]>();
  for (const [id, point] of one.graph.points.entries()) {
    const assignment = point.syntax.type === 'expression_statement' ? assignmentOf(point.syntax) : null;
    const left = assignment?.childForFieldName('left');
    if (left?.type !== 'identifier') continue;
    const value = one.after.get(point.syntax.id)?.get(left.text);
    if (value === undefined || !isLargeAnswer(value, point.syntax, one)) continue;
    const loop = innermostLoop(point.syntax);
    if (loop === null || backwardCallIn(loop) !== null) continue;
    const liveness = livenessIn(one);
    // Which of several tensors is the large one is not sure: what the loop collects may well outweigh it.
    if (value.kind !== 'tensor' && collectsTensors(loop, one, program)) continue;
    const end = lastOf(loop, one);
    const head = one.graph.at.get(loop.id);
    if (end === null || !deadAfter(end, one).some(({ name }) => name === left.text)) continue;
    if (
      head === undefined ||
      liveness.isCaptured(left.text) ||
      liveBefore(head, left.text, one) ||
      isLetGo(left.text, loop, one)
    )
      continue;
    if (liveness.liveAfter(id).size === 0) continue;
    kept.set(loop, [...(kept.get(loop) ?? []), { name: left.text, statement: point.syntax }]);
  }
  // One finding for what one loop keeps, where the first of it is made.
  for (const [loop, answers] of kept) {
    if (answers.some(({ statement }) => callsModel(statement, one, program)))
      yield* roundFinding(answers, loop, one, program);
  }
}

/** A model computes it in this very statement, and it is larger than what went in: one tensor, or several. */
function isLargeAnswer(value: Value, statement: Node, one: Interpreted): boolean {
  const own = value.kind === 'tensor' ? value.own?.node : undefined;
  if (own !== undefined) return isInside(own, statement) && hasLarge(value);
  const call = assignmentOf(statement)?.childForFieldName('right');
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  const environment = one.before.get(statement.id);
  if (!target || environment === undefined || !hasLarge(value)) return false;
  const model = one.evaluator.evaluate(target, environment);
  return model.kind === 'module' || (model.kind === 'instance' && model.of.isModule);
}

/** By itself, or by a function of this file; what is computed from an answer later on is no answer. */
function callsModel(statement: Node, one: Interpreted, { module }: Program): boolean {
  const environment = one.before.get(statement.id);
  for (const node of descend(statement)) {
    const target = node.type === 'call' ? node.childForFieldName('function') : null;
    if (target === null || environment === undefined) continue;
    const called = one.evaluator.evaluate(target, environment);
    if (called.kind === 'module' || called.kind === 'instance' || called.kind === 'function') return true;
    if (ownFunctions(target, module).length > 0) return true;
  }
  return false;
}

function collectsTensors(loop: Node, one: Interpreted, program: Program): boolean {
  return [...storesOf(one, program)].some(
    (store) =>
      store.loop?.id === loop.id && one.evaluator.evaluate(store.expression, store.environment).kind === 'tensor',
  );
}

function hasLarge(value: Value): boolean {
  if (value.kind === 'tuple') return value.items.some(hasLarge);
  if (value.kind === 'container') return hasLarge(value.elements);
  return value.kind === 'tensor' && value.full && !value.host && value.output === 'larger';
}

/** The last point of a loop's body. */
function lastOf(loop: Node, one: Interpreted): number | null {
  const id = one.graph.points.findLastIndex(
    ({ syntax }) =>
      syntax.startIndex >= (loop.childForFieldName('body')?.startIndex ?? 0) && syntax.endIndex <= loop.endIndex,
  );
  return id < 0 ? null : id;
}

/** Whether the next round may read what the last one left in a name. */
function liveBefore(point: number, name: string, one: Interpreted): boolean {
  return livenessIn(one).liveAfter(point).has(name);
}

/** `del x` or `x = None` somewhere in the loop. */
function isLetGo(name: string, loop: Node, one: Interpreted): boolean {
  return one.graph.points.some(({ syntax }) => {
    if (syntax.startIndex < loop.startIndex || syntax.endIndex > loop.endIndex) return false;
    if (syntax.type === 'delete_statement') return new RegExp(`\\b${name}\\b`).test(syntax.text);
    const assignment = syntax.type === 'expression_statement' ? assignmentOf(syntax) : null;
    return (
      assignment?.childForFieldName('left')?.text === name && assignment.childForFieldName('right')?.type === 'none'
    );
  });
}

function* roundFinding(
  answers: readonly { name: string; statement: Node }[],
  loop: Node,
  one: Interpreted,
  { source }: Program,
): Iterable<Finding> {
  const [first, ...others] = answers;
  if (first === undefined) return;
  const names = [...new Set(answers.map(({ name }) => name))];
  const listed = names.join(', ');
  const fix = letGoAtEnd(loop, names, (lines) => text('Let go of it at the end of the round: {0}', lines), one, source);
  yield {
    ...{
      rule: 'alive-across-peak',
      severity: 'hint',
      start: first.statement.startIndex,
      end: first.statement.endIndex,
    },
    message: text(
      '{0} of the last round stays in GPU memory while this computes the next one: two of them at the peak. del {0} at the end of the round.',
      listed,
    ),
    chain: [
      reason(loop, text('The name stays bound from round to round of this loop, though nothing reads it then.')),
      ...others.map(({ name, statement }) => reason(statement, text('{0} is kept in the same way.', name))),
    ],
    fixes: fix === null ? [] : [fix],
  };
}

/** What a training loop leaves bound is alive while a later statement evaluates. */
function* fromLoopToPhase(one: Interpreted, program: Program): Iterable<Finding> {
  for (const [id, point] of one.graph.points.entries()) {
    const { syntax } = point;
    if (!/^(expression|return)_statement$/.test(syntax.type)) continue;
    const loop = trainingLoopBefore(syntax);
    if (loop === null || !callsLoop(syntax, one, program) || !computes(syntax, one, program)) continue;
    const dead = deadAt(id, one).filter(({ name, value }) => isBoundIn(loop, name, value));
    if (!dead.some(({ value }) => isSurelyLarge(value))) continue;
    yield phaseFinding(dead, place(syntax, loop, one), syntax, loop, id, one, program);
    return;
  }
}

function short(node: Node): string {
  const line = node.text.split('\n')[0] ?? '';
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}

/** A loop with a backward() among the statements before this one in its block. */
function trainingLoopBefore(statement: Node): Node | null {
  const block = statement.parent === null ? [] : children(statement.parent);
  const before = block.slice(0, block.indexOf(statement));
  const loop = before.findLast((one) => /^(for|while)_statement$/.test(one.type));
  return loop !== undefined && backwardCallIn(loop) !== null ? loop : null;
}

/** A call of a function of the file, or of a method of the object itself, that goes over batches of its own or evaluates. */
function callsLoop(statement: Node, { scope }: Interpreted, { module }: Program): boolean {
  for (const node of descend(statement)) {
    const target = node.type === 'call' ? node.childForFieldName('function') : null;
    if (target === null) continue;
    const isOwn = target.type === 'attribute' && target.childForFieldName('object')?.text === scope.parameters[0];
    const method = isOwn ? scope.class?.methods.get(target.childForFieldName('attribute')?.text ?? '') : undefined;
    const called = target.type === 'identifier' ? module.functions.get(target.text) : method;
    if (called === undefined) continue;
    const definition = called.node.parent?.type === 'decorated_definition' ? called.node.parent : called.node;
    if (/\.eval\(\)|no_grad|inference_mode/.test(definition.text)) return true;
    for (const inner of descend(called.body))
      if (inner.type === 'for_statement' || inner.type === 'while_statement') return true;
  }
  return false;
}

/** Dead while the statement runs: read neither by it nor after it. */
function deadAt(id: number, one: Interpreted): Dead[] {
  const liveness = livenessIn(one);
  const reads = one.graph.points[id]?.syntax.text ?? '';
  return deadAfter(id, one).filter(
    ({ name }) => !new RegExp(`\\b${name}\\b`).test(reads) && !liveness.isCaptured(name),
  );
}

/** A batch on the device, an answer larger than its input, or a graph that no `backward()` has freed. */
function isSurelyLarge(value: Value): boolean {
  if (value.kind !== 'tensor') return false;
  const isBatch = value.output === null && value.full;
  return isBatch || value.output === 'larger' || (value.graph === 'yes' && value.freed === 'no');
}

function isBoundIn(loop: Node, name: string, value: Dead['value']): boolean {
  if (value.kind !== 'tensor') return false;
  return new RegExp(`\\b${name}\\b`).test(loop.text);
}

/** The last statement between the loop and the phase that reads what the loop bound: the `del` belongs behind it. */
function place(phase: Node, loop: Node, one: Interpreted): Node {
  const block = phase.parent === null ? [] : children(phase.parent);
  const between = block.slice(block.indexOf(loop) + 1, block.indexOf(phase));
  const names = namesAt(one.graph);
  const bound = new Set(
    one.graph.points.flatMap(({ syntax }, id) =>
      loop.startIndex <= syntax.startIndex && syntax.endIndex <= loop.endIndex ? [...(names[id]?.writes ?? [])] : [],
    ),
  );
  const reads = (statement: Node): boolean => {
    const id = one.graph.at.get(statement.id);
    return id !== undefined && [...(names[id]?.reads ?? [])].some((name) => bound.has(name));
  };
  return between.findLast(reads) ?? phase;
}

function phaseFinding(
  dead: readonly Dead[],
  at: Node,
  statement: Node,
  loop: Node,
  id: number,
  one: Interpreted,
  { source }: Program,
): Finding {
  const names = dead.map(({ name }) => name);
  const lines = lettingGo(names, (name) => isCertainlyBound(name, id, one));
  return {
    ...{ rule: 'alive-across-peak', severity: 'hint', start: at.startIndex, end: at.endIndex },
    message: text(
      'The last batch of the loop above ({0}) stays in GPU memory while {1} runs: nothing reads it any more.',
      names.join(', '),
      short(statement),
    ),
    chain: [reason(loop, text('Names that this loop binds live on after it, to the end of the function.'))],
    fixes: [letGoBefore(statement, lines, source)],
  };
}
