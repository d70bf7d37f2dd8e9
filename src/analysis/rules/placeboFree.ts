import { text, type Finding, type Text } from '../finding';
import { removal } from '../fixes/statementLines';
import type { FlowPoint } from '../flow/graph';
import { livenessOf } from '../flow/liveness';
import { loopsAround } from '../flow/loops';
import { dottedName } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import type { Value } from '../values/value';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';

/**
 * P44 `placebo-free`: clean-up that frees nothing: a `del` of what dies there anyway, of a loss whose graph is gone, of a
 * copy made for it, `ipc_collect()` in a program of one process.
 */
export const placeboFree: Rule = {
  slugs: ['placebo-free'],
  mentions: /\bdel\b|ipc_collect/,
  *find(one, program) {
    if (one.scope.body.type === 'module') return;
    for (const point of one.graph.points) {
      const why = placeboOf(point, one, program);
      if (why !== null) yield finding(point.syntax, why, program);
    }
  },
};

interface Placebo {
  message: Text;
  because: Node;
  /** Statements that go. */
  gone: readonly Node[];
}

function placeboOf(point: FlowPoint, one: Interpreted, program: Program): Placebo | null {
  const { syntax } = point;
  if (syntax.type === 'expression_statement') return lonelyCollect(syntax, program);
  if (syntax.type !== 'delete_statement') return null;
  const names = deleted(syntax);
  const environment = one.before.get(syntax.id);
  if (names.length === 0 || environment === undefined || isShared(names, one)) return null;
  const values = names.map((name) => environment.get(name.text));
  const listed = names.map((name) => name.text).join(', ');
  const end = endAfter(point, one);
  if (end !== null && values.some(isBig)) {
    return {
      message: text('This frees nothing: the function ends here, and {0} with it.', listed),
      because: end,
      gone: [syntax],
    };
  }
  const copy = copyBefore(syntax, names);
  if (copy !== null) {
    return {
      message: text(
        'This frees nothing but the host copy that is made for it: {0} is let go of by the assignment or by del alike.',
        listed,
      ),
      because: copy,
      gone: [copy],
    };
  }
  const [loop] = loopsAround(syntax);
  if (loop === undefined || !values.every(isSpentLoss)) return null;
  return {
    message: text(
      'This frees next to nothing: backward() has freed the graph of {0}, and a loss is a single number.',
      listed,
    ),
    because: loop,
    gone: [syntax],
  };
}

/** The names of `del a, b`; none where it deletes anything else. */
function deleted(statement: Node): Node[] {
  const targets = children(statement).flatMap((target) =>
    target.type === 'expression_list' || target.type === 'tuple' ? children(target) : [target],
  );
  return targets.every((target) => target.type === 'identifier') ? targets : [];
}

/** An inner function, a `global` or a `nonlocal` knows one of the names. */
function isShared(names: readonly Node[], { graph, scope }: Interpreted): boolean {
  const liveness = livenessOf(graph, scope.body, scope.parameters);
  if (scope.isGenerator || names.some((name) => liveness.isCaptured(name.text))) return true;
  return [...descend(scope.body)].some(
    (node) =>
      /^(global|nonlocal)_statement$/.test(node.type) &&
      children(node).some((outer) => names.some((name) => name.text === outer.text)),
  );
}

function isBig(value: Value | undefined): boolean {
  if (value === undefined) return false;
  return value.kind === 'module' || (value.kind === 'tensor' && (value.full || value.graph === 'yes'));
}

/** `loss` after its `backward()`. */
function isSpentLoss(value: Value | undefined): boolean {
  return value?.kind === 'tensor' && value.scalar && value.freed === 'yes' && value.own !== null;
}

/** The `return` that follows at once and computes nothing, or the statement itself at the end of the function. */
function endAfter({ next, syntax }: FlowPoint, { graph }: Interpreted): Node | null {
  if (next.length === 0) return syntax;
  const following = next.map((id) => graph.points[id]?.syntax);
  const [first] = following;
  const isReturn = following.every(
    (node) =>
      node?.type === 'return_statement' &&
      ![...descend(node)].some((inner) =>
        /^(call|await|subscript|binary_operator|list_comprehension)$/.test(inner.type),
      ),
  );
  return isReturn && first !== undefined ? first : null;
}

/** `x = x.cpu()` right before `del x`. */
function copyBefore(statement: Node, names: readonly Node[]): Node | null {
  const siblings = statement.parent === null ? [] : children(statement.parent);
  const before = siblings[siblings.findIndex((one) => one.id === statement.id) - 1];
  const assignment = before === undefined ? null : assignmentOf(before);
  const [name] = names;
  if (before === undefined || name === undefined || names.length > 1 || assignment?.type !== 'assignment') return null;
  if (assignment.childForFieldName('left')?.text !== name.text) return null;
  const copies = [
    `${name.text}.cpu()`,
    `${name.text}.to("cpu")`,
    `${name.text}.to('cpu')`,
    `${name.text}.detach().cpu()`,
  ];
  return copies.includes(assignment.childForFieldName('right')?.text ?? '') ? before : null;
}

/** `torch.cuda.ipc_collect()` where no other process ever gets a tensor. */
function lonelyCollect(statement: Node, { module, source }: Program): Placebo | null {
  const [call] = children(statement);
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  if (call === undefined || !target || dottedName(target, module.imports) !== 'torch.cuda.ipc_collect') return null;
  if (/multiprocessing|\bmp\.|Process|Queue|share_memory|num_workers|distributed|accelerat/i.test(source)) return null;
  return {
    message: text(
      'This frees nothing: it is for memory that was shared with other processes, and this program has none.',
    ),
    because: call,
    gone: [statement],
  };
}

function finding(statement: Node, { message, because, gone }: Placebo, { source }: Program): Finding {
  return {
    ...{ rule: 'placebo-free', severity: 'hint', start: statement.startIndex, end: statement.endIndex, message },
    chain: [reason(because, text('Nothing is left to free because of this.'))],
    fixes: [
      {
        title: text('Remove {0}', gone.map((one) => one.text).join(', ')),
        safe: true,
        edits: gone.map((one) => removal(one, source)),
      },
    ],
  };
}
