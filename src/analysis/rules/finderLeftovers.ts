import { text, type Finding } from '../finding';
import { addition } from '../fixes/statementLines';
import type { ClassScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import { lastUseOf, phaseAfter } from './lastUse';
import type { Program, Rule } from './rule';
import { copyOf } from './weightCopies';

/**
 * P42 `finder-leftovers`: a learning-rate or batch-size search puts the weights back from a copy, and the copy (or the
 * finder that has it) stays on the device through the training that follows.
 */
export const finderLeftovers: Rule = {
  slugs: ['finder-leftovers'],
  mentions: /state_dict|deepcopy/,
  *find(one, program) {
    // In a notebook another cell may want the copy.
    if (program.cells.length > 0) return;
    for (const { syntax } of one.graph.points) {
      const assignment = assignmentOf(syntax);
      const left = assignment?.type === 'assignment' ? assignment.childForFieldName('left') : null;
      const right = assignment?.childForFieldName('right');
      if (left?.type !== 'identifier' || !right) continue;
      const copy = copyIn(right, syntax, one, program);
      const last = copy === null ? null : lastUseOf(left.text, syntax, one);
      if (copy === null || last === null || (copy === right && !restores(last, left.text))) continue;
      const training = phaseAfter(last, one, program, true);
      if (training !== null) yield finding({ name: left.text, made: syntax, copy, last, training }, program);
    }
  },
};

/** The copy of weights that an expression makes, or that an object of this file makes for itself. */
function copyIn(right: Node, statement: Node, one: Interpreted, program: Program): Node | null {
  const environment = one.before.get(statement.id);
  if (environment === undefined) return null;
  const value = one.evaluator.evaluate(right, environment);
  if (value.kind === 'instance') return value.of.isModule ? null : copyOfObject(value.of, program);
  const copy = copyOf(value, right, environment, one);
  return copy === null || copy.of.kind === 'model' || copy.node !== right ? null : right;
}

/** `self.saved = {k: v.clone() for …}` in a class that puts it back itself and never lets go of it. */
function copyOfObject(owner: ClassScope, program: Program): Node | null {
  for (const one of program.functions) {
    if (one.scope.class !== owner) continue;
    for (const { syntax } of one.graph.points) {
      const assignment = assignmentOf(syntax);
      const left = assignment?.childForFieldName('left');
      const right = assignment?.childForFieldName('right');
      const environment = one.before.get(syntax.id);
      if (left?.type !== 'attribute' || !right || environment === undefined) continue;
      const copy = copyOf(one.evaluator.evaluate(right, environment), right, environment, one);
      if (copy === null || copy.of.kind === 'model') continue;
      const body = owner.node.text.replace(/\s+/g, '');
      if (!body.includes(`load_state_dict(${left.text})`)) continue;
      if (body.includes(`${left.text}=None`) || body.includes(`del${left.text}`)) continue;
      return syntax;
    }
  }
  return null;
}

/** `model.load_state_dict(weights)` */
function restores(statement: Node, name: string): boolean {
  const [call] = children(statement);
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  const given = children(call?.childForFieldName('arguments') ?? statement)[0];
  return target?.childForFieldName('attribute')?.text === 'load_state_dict' && given?.text === name;
}

interface Leftover {
  name: string;
  made: Node;
  copy: Node;
  last: Node;
  training: Node;
}

function finding({ name, made, copy, last, training }: Leftover, { source }: Program): Finding {
  const edit = addition(last, `del ${name}`, source);
  return {
    ...{ rule: 'finder-leftovers', severity: 'warning', start: made.startIndex, end: made.endIndex },
    message: text(
      '{0} holds a copy of the weights that is put back and not needed again, yet stays on the GPU through the whole training after it. del {0} after its last use frees a block as large as the model.',
      name,
    ),
    chain: [
      reason(copy, text('The copy is made here, on the device of the model.')),
      reason(last, text('{0} is used here for the last time.', name)),
      reason(training, text('This runs with {0} still in memory.', name)),
    ],
    fixes:
      edit === null
        ? []
        : [{ title: text('Let go of it after its last use: {0}', `del ${name}`), safe: true, edits: [edit] }],
  };
}
