import { text, type Finding } from '../finding';
import { withoutRetain } from '../fixes/removedArgument';
import { addition } from '../fixes/statementLines';
import { mayBeBackPropagated } from '../flow/backward';
import { loopsAround } from '../flow/loops';
import { backwardCallIn } from '../flow/training';
import { positional } from '../syntax/calls';
import { keyword } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import type { Value } from '../values/value';
import { reason } from './keptGraph';
import { tensorOf } from './stores';
import type { Program, Rule } from './rule';

/**
 * P07 `carried-state-not-detached`: the state that a recurrent module answers is given to it again in the next round with
 * its whole history: the graph grows with every round, and `retain_graph=True` keeps all of its buffers.
 */
export const carriedState: Rule = {
  slugs: ['carried-state-not-detached'],
  *find(one, program) {
    for (const { syntax } of one.graph.points) {
      const carried = carriedIn(syntax);
      const [loop] = loopsAround(syntax);
      if (carried === null || loop === undefined || one.evaluator.recording(carried.call) !== 'yes') continue;
      const before = one.before.get(syntax.id);
      const after = one.after.get(syntax.id);
      if (before === undefined || after === undefined) continue;
      // A state whose graph the loop cuts comes without one.
      if (!carries(one.evaluator.evaluate(carried.target, before)) || !isGraph(after.get(carried.target.text)))
        continue;
      if (isBoundElsewhere(carried.target.text, syntax, loop)) continue;
      if (!growsInLoop(carried.target.text, syntax, loop, one, program)) continue;
      yield finding(carried.target, syntax, loop, program);
    }
  },
};

interface Carried {
  target: Node;
  call: Node;
}

/** `out, state = model(x, state)`: one of the targets is an argument of the call. */
function carriedIn(statement: Node): Carried | null {
  const assignment = statement.type === 'expression_statement' ? assignmentOf(statement) : null;
  const left = assignment?.childForFieldName('left');
  const call = assignment?.childForFieldName('right');
  if (!left || call?.type !== 'call' || assignment?.type !== 'assignment') return null;
  const targets = left.type === 'pattern_list' || left.type === 'tuple_pattern' ? children(left) : [left];
  const given = [
    ...positional(call),
    ...children(call.childForFieldName('arguments') ?? call).flatMap((one) => one.childForFieldName('value') ?? []),
  ];
  const target = targets.find(
    (one) => /^(identifier|attribute)$/.test(one.type) && given.some((other) => other.text === one.text),
  );
  return target === undefined ? null : { target, call };
}

function carries(value: Value): boolean {
  const state = tensorOf(value);
  return state !== null && state.graph !== 'no';
}

function isGraph(value: Value | undefined): boolean {
  return value !== undefined && tensorOf(value)?.graph === 'yes';
}

/** Another statement of the loop binds it as well: that may be where it is cut. */
function isBoundElsewhere(name: string, statement: Node, loop: Node): boolean {
  for (const node of descend(loop)) {
    const left = node.type === 'assignment' || node.type === 'for_statement' ? node.childForFieldName('left') : null;
    if (left === null || (statement.startIndex <= node.startIndex && node.endIndex <= statement.endIndex)) continue;
    if ([...descend(left)].some((one) => one.text === name)) return true;
  }
  return false;
}

/** Each round is back-propagated on its own with the graph retained, or none ever is. */
function growsInLoop(name: string, statement: Node, loop: Node, one: Interpreted, { module }: Program): boolean {
  const backward = backwardCallIn(loop);
  if (backward !== null) return keyword(backward, 'retain_graph')?.type === 'true';
  return !mayBeBackPropagated(name, statement, one.scope, module);
}

function finding(target: Node, statement: Node, loop: Node, { source }: Program): Finding {
  const name = target.text;
  const body = loop.childForFieldName('body');
  const last = body === null ? undefined : children(body).at(-1);
  const cut = `${name} = ${name}.detach() if hasattr(${name}, "detach") else tuple(part.detach() for part in ${name})`;
  const edit = last === undefined ? null : addition(last, cut, source);
  // The only reason to retain the graph is that the next round goes through it again.
  const backward = backwardCallIn(loop);
  const retained = backward === null ? [] : withoutRetain(backward, source);
  return {
    ...{ rule: 'carried-state-not-detached', severity: 'error', start: statement.startIndex, end: statement.endIndex },
    message: text(
      '{0} carries the graph of every earlier round into the next one: memory and time grow with each of them. Detach it between the rounds.',
      name,
    ),
    chain: [
      reason(loop, text('From round to round of this loop {0} is given back to the module it came from.', name)),
      reason(statement, text('Here its graph grows by one more round.')),
    ],
    fixes:
      edit === null
        ? []
        : [{ title: text('Detach {0} at the end of the round', name), safe: false, edits: [...retained, edit] }],
  };
}
