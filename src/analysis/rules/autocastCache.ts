import { text } from '../finding';
import { trainsWithin } from '../flow/training';
import { calledName, callsWithin, isInner, keyword } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';

/**
 * P46 `autocast-cache`: one `autocast` region around a whole training loop. Every weight that is cast inside is cached, in
 * half precision, until the region ends; around the forward pass of a step the casts are dropped with the step.
 */
export const autocastCache: Rule = {
  slugs: ['autocast-cache'],
  mentions: /autocast/,
  *find(one, program) {
    for (const { syntax } of one.graph.points) {
      if (syntax.type !== 'with_statement') continue;
      const region = contextsOf(syntax).find((context) => isAutocast(context, one));
      const loop = region === undefined ? null : trainingLoopIn(syntax, program);
      if (region === undefined || loop === null) continue;
      yield {
        ...{ rule: 'autocast-cache', severity: 'hint', start: region.startIndex, end: region.endIndex },
        message: text(
          'This region spans the whole training loop: the half-precision copies of all weights, half the size of the model or less, stay cached on the GPU until it ends. Entered around the forward pass of each step alone, they are dropped with the step.',
        ),
        chain: [
          reason(region, text('Weights that are cast inside are cached until the region ends.')),
          reason(loop, text('All rounds of this training loop run inside it.')),
        ],
        fixes: [],
      };
    }
  },
};

/** What a `with` enters. */
export function contextsOf(statement: Node): Node[] {
  const clause = children(statement).find((child) => child.type === 'with_clause');
  return (clause === undefined ? [] : children(clause)).flatMap((item) => {
    const value = item.childForFieldName('value') ?? item;
    const context = value.type === 'as_pattern' ? children(value)[0] : value;
    return context === undefined ? [] : [context];
  });
}

/** `torch.autocast(…)` in any of its spellings, or a name that is bound to one, with its cache on. */
function isAutocast(context: Node, one: Interpreted): boolean {
  if (context.type === 'identifier') {
    const bound = [...descend(one.scope.body)].flatMap((node) => {
      const assignment = assignmentOf(node);
      return assignment?.childForFieldName('left')?.text === context.text
        ? [assignment.childForFieldName('right')]
        : [];
    });
    return bound.length > 0 && bound.every((right) => right?.type === 'call' && isAutocast(right, one));
  }
  const target = context.type === 'call' ? context.childForFieldName('function') : null;
  const name = target === null ? null : one.evaluator.dotted(target);
  if (name === null || !/^torch\.(cuda\.amp\.|cpu\.amp\.|amp\.(autocast_mode\.)?)?autocast$/.test(name)) return false;
  return ![keyword(context, 'cache_enabled'), keyword(context, 'enabled')].some((value) => value?.type === 'false');
}

/** The first loop right inside that trains step by step: it back-propagates and steps an optimizer in its rounds. */
function trainingLoopIn(region: Node, { module }: Program): Node | null {
  const body = region.childForFieldName('body');
  for (const node of body === null ? [] : descend(body, (inner) => !isInner(inner))) {
    if (node.type !== 'for_statement' && node.type !== 'while_statement') continue;
    if (trainsWithin(node, module) && [...callsWithin(node)].some((call) => calledName(call) === 'step')) return node;
  }
  return null;
}
