import { text, type Finding } from '../finding';
import { addition } from '../fixes/statementLines';
import { loopsAround } from '../flow/loops';
import { backwardCallIn } from '../flow/training';
import { turnsGradOff, callsOf } from '../scopes/gradMode';
import { decoratorsOf, scopeAround, type FunctionScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf, statementAround } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import { lastUseOf, phaseAfter } from './lastUse';
import type { Program, Rule } from './rule';
import { worksWithTensors } from './tensorWork';

/**
 * P31 `suspended-generator`: a generator that gave its first items and is not asked again keeps its frame with all its
 * tensors while a long phase runs. One that yields inside `no_grad()` leaves recording off in whoever asked it, until it
 * is asked again or closed.
 */
export const suspendedGenerator: Rule = {
  slugs: ['suspended-generator'],
  mentions: /\byield\b/,
  *find(one, program) {
    yield* suspended(one, program);
    yield* leavesGradOff(one, program);
  },
};

function* suspended(one: Interpreted, program: Program): Iterable<Finding> {
  if (program.cells.length > 0) return;
  for (const { syntax } of one.graph.points) {
    const assignment = assignmentOf(syntax);
    const left = assignment?.type === 'assignment' ? assignment.childForFieldName('left') : null;
    const right = assignment?.childForFieldName('right');
    if (left?.type !== 'identifier' || !right) continue;
    const generator = generatorOf(right, syntax, one);
    const holder = generator === null ? undefined : program.functions.find(({ scope }) => scope === generator);
    if (holder === undefined || !worksWithTensors(holder.scope.body, holder, program)) continue;
    if (!isOnlyAsked(left.text, syntax, one)) continue;
    const last = lastUseOf(left.text, syntax, one);
    const phase = last === null ? null : phaseAfter(last, one, program, false);
    if (last !== null && phase !== null) yield heldFinding(left.text, syntax, last, phase, holder.scope, program);
  }
}

function generatorOf(right: Node, statement: Node, one: Interpreted): FunctionScope | null {
  const inner = right.text.startsWith('iter(') ? children(right.childForFieldName('arguments') ?? right)[0] : right;
  const target = inner?.type === 'call' ? inner.childForFieldName('function') : null;
  const environment = one.before.get(statement.id);
  if (!target || environment === undefined) return null;
  const value = one.evaluator.evaluate(target, environment);
  return value.kind === 'function' && value.scope.isGenerator ? value.scope : null;
}

/** Every use of the name is `next(name)`, or an `islice(name, n)` that nothing else keeps: nothing exhausts, closes or takes it. */
function isOnlyAsked(name: string, bound: Node, one: Interpreted): boolean {
  let asked = 0;
  for (const node of descend(one.scope.body)) {
    if (
      node.type !== 'identifier' ||
      node.text !== name ||
      (node.startIndex >= bound.startIndex &&
        node.startIndex < bound.startIndex + name.length &&
        node.parent?.parent?.id === bound.id)
    )
      continue;
    const call = node.parent?.type === 'argument_list' ? node.parent.parent : null;
    const asking = call?.childForFieldName('function')?.text ?? '';
    const isTaken = /(^|\.)islice$/.test(asking) && call?.parent?.type === 'argument_list';
    if (asking !== 'next' && !isTaken) return false;
    asked += 1;
  }
  return asked > 0;
}

function heldFinding(
  name: string,
  made: Node,
  last: Node,
  phase: Node,
  generator: FunctionScope,
  { source }: Program,
): Finding {
  const edit = addition(last, `del ${name}`, source);
  return {
    ...{ rule: 'suspended-generator', severity: 'warning', start: made.startIndex, end: made.endIndex },
    message: text(
      '{0} is suspended in the middle of {1}: its frame keeps every tensor there on the GPU, though nothing asks it for more. {0}.close(), or del {0} after the last next(), frees them.',
      ...[name, generator.name],
    ),
    chain: [
      reason(generator.node, text('The frame of this generator stays as it was at its last yield.')),
      reason(last, text('{0} is used here for the last time.', name)),
      reason(phase, text('This runs with {0} still in memory.', name)),
    ],
    fixes:
      edit === null
        ? []
        : [{ title: text('Let go of it after its last use: {0}', `del ${name}`), safe: true, edits: [edit] }],
  };
}

/** `with torch.no_grad():` around a `yield`, in a generator that code which trains asks. */
function* leavesGradOff(one: Interpreted, program: Program): Iterable<Finding> {
  if (!one.scope.isGenerator || decoratorsOf(one.scope.node).length > 0) return;
  for (const { syntax } of one.graph.points) {
    if (syntax.type !== 'with_statement') continue;
    const clause = children(syntax).find((child) => child.type === 'with_clause');
    const off = (clause === undefined ? [] : children(clause)).some((item) =>
      turnsGradOff(item.childForFieldName('value') ?? item, program.module),
    );
    const inside = off ? yieldIn(syntax) : null;
    const training = inside === null ? null : trainingCaller(one.scope, program);
    if (inside === null || training === null) continue;
    yield {
      ...{ rule: 'suspended-generator', severity: 'warning', start: inside.startIndex, end: inside.endIndex },
      message: text(
        'While {0} waits at this yield inside no_grad(), recording is off in its caller, too: what that computes gets no gradients until the generator is asked again or closed. Compute under no_grad(), and yield outside of it.',
        one.scope.name,
      ),
      chain: [
        reason(syntax, text('Recording is switched off here, and on again only when this block ends.')),
        reason(training, text('This code trains with what the generator gives.')),
      ],
      fixes: [],
    };
  }
}

function yieldIn(statement: Node): Node | null {
  const isInner = (node: Node): boolean => /^(function_definition|lambda)$/.test(node.type);
  for (const node of descend(statement, (inner) => !isInner(inner)))
    if (node.type === 'yield') return statementAround(node);
  return null;
}

/** A loop that back-propagates, over the generator or with a `next()` of it in each round. */
function trainingCaller(generator: FunctionScope, { module }: Program): Node | null {
  for (const call of callsOf(generator, module)) {
    const statement = statementAround(call);
    if (statement.type === 'for_statement' && isOver(statement, call)) {
      if (backwardCallIn(statement) !== null) return statement;
      continue;
    }
    const assignment = assignmentOf(statement);
    if (assignment?.childForFieldName('right')?.id !== call.id) continue;
    const name = assignment.childForFieldName('left')?.text ?? '';
    const around = scopeAround(call, module) ?? module.scopes[0];
    for (const asked of module.calls.get('next') ?? []) {
      const given = children(asked.childForFieldName('arguments') ?? asked)[0];
      if (given?.text !== name || (scopeAround(asked, module) ?? module.scopes[0]) !== around) continue;
      const loop = loopsAround(asked).find((outer) => backwardCallIn(outer) !== null);
      if (loop !== undefined) return loop;
    }
  }
  return null;
}

function isOver(loop: Node, call: Node): boolean {
  const over = loop.childForFieldName('right');
  return over !== null && over.startIndex <= call.startIndex && call.endIndex <= over.endIndex;
}
