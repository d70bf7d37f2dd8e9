import { text } from '../finding';
import { ownFunctions } from '../flow/backward';
import { backwardCallIn, backwardIn } from '../flow/training';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import { letGoAtEnd } from '../fixes/release';
import type { Interpreted } from '../values/interpret';
import { models, type Sites } from '../values/sites';
import type { Value } from '../values/value';
import { reason } from './keptGraph';
import { holdersOf, innermostLoop, livenessIn, type Dead } from './lifetimes';
import type { Program, Rule } from './rule';

/**
 * P10 `model-rebuilt-while-alive`: a loop over trials builds a model while the last trial's is still bound, by its own
 * name, its optimizer's, or a result whose graph reaches its parameters.
 */
export const modelRebuiltWhileAlive: Rule = {
  slugs: ['model-rebuilt-while-alive'],
  *find(one, program) {
    for (const point of one.graph.points) {
      const { syntax } = point;
      const loop = innermostLoop(syntax);
      const sites = loop === null ? [] : builtHere(syntax, one);
      const environment = one.before.get(syntax.id);
      if (loop === null || sites.length === 0 || environment === undefined || !trainsIn(loop, sites, one, program))
        continue;
      const all = holdersOf(sites, environment);
      const alive = all.filter(({ name }) => !livenessIn(one).isCaptured(name));
      if (alive.length === 0 || all.some(({ value }) => isCollection(value))) continue;
      yield finding(alive, syntax, loop, one, program);
    }
  },
};

/** The models that a statement binds to a name and that are built in it. */
function builtHere(statement: Node, one: Interpreted): Sites {
  const assignment = statement.type === 'expression_statement' ? assignmentOf(statement) : null;
  const left = assignment?.childForFieldName('left');
  const value = left?.type === 'identifier' ? one.after.get(statement.id)?.get(left.text) : undefined;
  // An object of the file that is given the model, a trainer or the like, holds it as well.
  const isModel = value?.kind === 'module' ? !value.loss && !value.bare : value?.kind === 'instance';
  if (!isModel || value === undefined) return [];
  return models(value.holds).filter(
    ({ node }) =>
      node.type === 'call' && statement.startIndex <= node.startIndex && node.endIndex <= statement.endIndex,
  );
}

/** The loop trains what it builds: by a backward() in it or in a function it gives the model's optimizer. */
function trainsIn(loop: Node, sites: Sites, one: Interpreted, program: Program): boolean {
  if (backwardCallIn(loop) !== null || callsTraining(loop, program)) return true;
  const end = one.graph.points.findLast(
    ({ syntax }) => syntax.startIndex >= loop.startIndex && syntax.endIndex <= loop.endIndex,
  );
  const environment = end === undefined ? undefined : one.after.get(end.syntax.id);
  if (environment === undefined) return false;
  return holdersOf(sites, environment).some(({ value }) => value.kind === 'holder' && value.role === 'optimizer');
}

function callsTraining(loop: Node, { module }: Program): boolean {
  for (const node of descend(loop)) {
    const target = node.type === 'call' ? node.childForFieldName('function') : null;
    if (target !== null && ownFunctions(target, module).some((scope) => backwardIn(scope, module))) return true;
  }
  return false;
}

/** A list of the trials' models is what the loop is for. */
function isCollection(value: Value): boolean {
  return value.kind === 'container';
}

function finding(alive: readonly Dead[], statement: Node, loop: Node, one: Interpreted, { source }: Program) {
  const names = alive.map(({ name }) => name);
  // Where its own name is not known to hold it, others may hold it unknown as well.
  const isWhole = names.includes(assignmentOf(statement)?.childForFieldName('left')?.text ?? '');
  const fix = !isWhole
    ? null
    : letGoAtEnd(
        loop,
        names,
        (lines) => text('Let go of all of them at the end of the trial: {0}', lines),
        one,
        source,
      );
  return {
    ...{ rule: 'model-rebuilt-while-alive', severity: 'warning' as const },
    ...{ start: statement.startIndex, end: statement.endIndex },
    message: text(
      'The last trial is still alive while this builds the next model: its parameters and gradients are held by {0}. Make the trial a function, or del all of these at its end.',
      names.join(', '),
    ),
    chain: [
      reason(loop, text('Names of one round of this loop stay bound until the next round binds them anew.')),
      ...alive.slice(0, 4).flatMap(({ name }) => {
        const assigned = lastAssigned(name, loop);
        return assigned === null ? [] : [reason(assigned, text('{0} keeps the model alive.', name))];
      }),
    ],
    fixes: fix === null ? [] : [fix],
  };
}

function lastAssigned(name: string, loop: Node): Node | null {
  let found: Node | null = null;
  for (const node of descend(loop)) {
    const left = node.type === 'assignment' ? node.childForFieldName('left') : null;
    if (left !== null && [...descend(left)].some((one) => one.type === 'identifier' && one.text === name)) found = node;
  }
  return found;
}
