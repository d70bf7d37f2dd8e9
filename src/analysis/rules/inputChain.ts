import { text, type Finding, type Fix } from '../finding';
import { loopsAround } from '../flow/loops';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import { assignmentOf, graphNamesIn } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Rule } from './rule';

/**
 * P43 `input-chain-not-detached`: an input that is optimised step by step (an attack, a sampler, a style image) is made
 * of its last value with that one's graph: every step reaches back through all of them.
 */
export const inputChain: Rule = {
  slugs: ['input-chain-not-detached'],
  mentions: /\bgrad\b/,
  *find(one) {
    for (const { syntax } of one.graph.points) {
      const assignment = syntax.type === 'expression_statement' ? assignmentOf(syntax) : null;
      const left = assignment?.childForFieldName('left');
      const right = assignment?.childForFieldName('right');
      const [loop] = loopsAround(syntax);
      if (left?.type !== 'identifier' || !right || loop === undefined || assignment?.type !== 'assignment') continue;
      const gradient = gradientOf(left.text, loop, one);
      if (gradient === null || !isLastOf(left.text, syntax, loop) || !carriesChain(left.text, syntax, loop, one))
        continue;
      yield finding(left.text, right, syntax, gradient);
    }
  },
};

/** `autograd.grad(loss, x)` in the loop. */
export function gradientOf(name: string, loop: Node, one: Interpreted): Node | null {
  for (const node of descend(loop)) {
    const target = node.type === 'call' ? node.childForFieldName('function') : null;
    if (target === null || !/(^|\.)autograd\.grad$|^grad$/.test(target.text)) continue;
    const list = node.childForFieldName('arguments');
    if (/create_graph\s*=\s*True/.test(list?.text ?? '') || one.evaluator.recording(node) !== 'yes') return null;
    if (list !== null && [...descend(list)].some((inner) => inner.type === 'identifier' && inner.text === name))
      return node;
  }
  return null;
}

/** The last statement of the loop that binds the name: the next round begins with that. */
function isLastOf(name: string, statement: Node, loop: Node): boolean {
  const bound = [...descend(loop)].filter(
    (node) => node.type === 'assignment' && node.childForFieldName('left')?.text === name,
  );
  return bound.at(-1)?.parent === statement;
}

/** Its new value has a graph that comes from its last one; whatever cuts that is a detach on the way. */
function carriesChain(name: string, statement: Node, loop: Node, one: Interpreted): boolean {
  const value = one.after.get(statement.id)?.get(name);
  if (value?.kind !== 'tensor' || value.graph === 'no' || one.evaluator.recording(statement) !== 'yes') return false;
  // Names that the new value is made of, back to the old one.
  const reached = new Set([name]);
  for (const assignment of [...descend(loop)].filter((node) => node.type === 'assignment').toReversed()) {
    const left = assignment.childForFieldName('left');
    const right = assignment.childForFieldName('right');
    if (left?.type !== 'identifier' || !right || !reached.delete(left.text)) continue;
    if (!/autograd\.grad/.test(right.text)) for (const other of graphNamesIn(right)) reached.add(other);
  }
  const isCut = new RegExp(`\\b${name}\\.(detach_|requires_grad_\\(False)|\\.data\\b|no_grad`).test(loop.text);
  return reached.has(name) && !isCut;
}

function finding(name: string, right: Node, statement: Node, gradient: Node): Finding {
  const isPrimary = ['identifier', 'attribute', 'call', 'subscript', 'parenthesized_expression'].includes(right.type);
  const tail = '.detach().requires_grad_(True)';
  const fix: Fix = {
    ...{ title: text('Begin each step anew: {0}', `${name} = (…)${tail}`), safe: false },
    edits: isPrimary
      ? [{ start: right.endIndex, end: right.endIndex, newText: tail }]
      : [
          { start: right.startIndex, end: right.startIndex, newText: '(' },
          { start: right.endIndex, end: right.endIndex, newText: `)${tail}` },
        ],
  };
  return {
    ...{ rule: 'input-chain-not-detached', severity: 'error', start: statement.startIndex, end: statement.endIndex },
    message: text(
      '{0} is made of its last value with the graph of that one: memory and time grow with every step. Detach it before the next one.',
      name,
    ),
    chain: [reason(gradient, text('Each step computes a gradient through all the steps before it.'))],
    fixes: [fix],
  };
}
