import { text, type Finding, type Fix } from '../finding';
import { isInside } from '../flow/within';
import { callsOf } from '../scopes/gradMode';
import type { FunctionScope } from '../scopes/module';
import { isInner, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { forwardLoops, runsModel } from './hookGrowth';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';
import { storesOf, type KeptTensor, type Store } from './stores';

/**
 * P22 `hook-stores-activation`: a hook appends the activations of every forward pass to something that nothing empties; or
 * hooks are registered again and again and never removed, so that each forward pass runs all of them.
 */
export const hookStoresActivation: Rule = {
  slugs: ['hook-stores-activation'],
  *find(one, program) {
    if (program.isHook(one.scope)) {
      for (const store of storesOf(one, program)) {
        const kept = store.tensors.find(
          ({ value }) =>
            value.graph === 'yes' || (!value.scalar && !value.host && (value.full || value.partOf !== null)),
        );
        if (kept !== undefined && store.keeperOf !== 'function' && !isOverwritten(store))
          yield storeFinding(store, kept, program);
      }
    }
    for (const { syntax } of one.graph.points) {
      const call = registrationIn(syntax);
      if (call !== null) yield* registration(call, syntax, one, program);
    }
  },
};

/** `store.update({name: output})` sets slots. */
function isOverwritten({ how, statement }: Store): boolean {
  return (how !== 'append' && how !== 'sum' && how !== 'queue') || /\.update\(/.test(statement.text);
}

function storeFinding(store: Store, kept: KeptTensor, program: Program): Finding {
  const { statement, keeper, keeperValue } = store;
  const loop = forwardLoops(program)[0]?.loop;
  const hasGraph = kept.value.graph === 'yes';
  const made = keeperValue.kind === 'container' ? keeperValue.made : null;
  const fix = slotFix(store, hasGraph);
  return {
    ...{
      rule: 'hook-stores-activation',
      severity: hasGraph && kept.value.scalar && forwardLoops(program).some(({ trains }) => trains) ? 'hint' : 'error',
    },
    ...{ start: statement.startIndex, end: statement.endIndex },
    message: hasGraph
      ? text(
          '{0} keeps what this hook is given in every forward pass, with its graph, and nothing empties it: GPU memory grows with every step. One slot that is overwritten with the detached value holds the newest only.',
          keeper,
        )
      : text(
          '{0} keeps what this hook is given in every pass, and nothing empties it: GPU memory grows with every step. One slot that is overwritten holds the newest only.',
          keeper,
        ),
    chain: [
      ...(made === null ? [] : [reason(made, text('{0} is made once, here.', keeper))]),
      reason(kept.expression, text('The hook keeps this at every call.')),
      ...(loop === undefined ? [] : [reason(loop, text('Every round of this loop calls the hook.'))]),
    ],
    fixes: fix === null ? [] : [fix],
  };
}

/** `store[name].append(output)` becomes `store[name] = [output.detach()]`. */
function slotFix({ statement, expression, how }: Store, hasGraph: boolean): Fix | null {
  const call = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  const target = call?.childForFieldName('function');
  const list = target?.childForFieldName('object');
  if (how !== 'append' || !list || target?.childForFieldName('attribute')?.text !== 'append') return null;
  const isPrimary = ['identifier', 'attribute', 'call', 'subscript'].includes(expression.type);
  if (hasGraph && !isPrimary) return null;
  const value = hasGraph ? `${expression.text}.detach()` : expression.text;
  const slot = slotOf(list);
  return slot === null
    ? null
    : {
        ...{ title: text('Keep the newest only: {0}', `${slot} = [${value}]`), safe: false },
        edits: [{ start: statement.startIndex, end: statement.endIndex, newText: `${slot} = [${value}]` }],
      };
}

function slotOf(list: Node): string | null {
  if (list.type === 'subscript') return list.text;
  if (list.type === 'identifier' || list.type === 'attribute') return `${list.text}[:]`;
  const target = list.type === 'call' ? list.childForFieldName('function') : null;
  const [key] = positional(list);
  const isDefault = target?.childForFieldName('attribute')?.text === 'setdefault' && key !== undefined;
  return isDefault ? `${target?.childForFieldName('object')?.text ?? ''}[${key.text}]` : null;
}

const registering = /^register_(forward|full_backward|backward)_?(pre_)?hook$/;

/** A statement that registers a hook and does nothing else, or binds the handle. */
function registrationIn(statement: Node): Node | null {
  const inner = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  const call = inner?.type === 'call' ? inner : (assignmentOf(statement)?.childForFieldName('right') ?? null);
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  return call !== null && registering.test(target?.childForFieldName('attribute')?.text ?? '') ? call : null;
}

/** Registered in every round, or every call, on a module that lives on, with a handle that nobody removes. */
function* registration(call: Node, statement: Node, one: Interpreted, program: Program): Iterable<Finding> {
  const { scope } = one;
  const object = call.childForFieldName('function')?.childForFieldName('object') ?? null;
  if (object === null || isConditional(statement) || isRemoved(statement, scope.body)) return;
  const around = forwardLoops(program).find(({ loop }) => isInside(statement, loop))?.loop ?? null;
  const repeats = around ?? callingLoop(scope, program);
  if (repeats === null || (around === null && !runsModel(scope.body, one, program))) return;
  if (!outlives(object, around ?? scope.body)) return;
  const handle = assignmentOf(statement)?.childForFieldName('left')?.text;
  yield {
    ...{ rule: 'hook-stores-activation', severity: 'error', start: statement.startIndex, end: statement.endIndex },
    message: text(
      'Every time this runs the module gets one more hook, and none is ever removed: each one stays with all that it refers to, and runs at every later pass. Remove it through its handle once the pass is done.',
    ),
    chain: [
      reason(
        call,
        handle === undefined
          ? text('The handle, through which it could be removed, is dropped.')
          : text('Nothing calls {0}.remove().', handle),
      ),
      reason(repeats, text('This loop registers one more in every round.')),
    ],
    fixes: [],
  };
}

function isConditional(statement: Node): boolean {
  for (let at = statement.parent; at !== null && !isInner(at); at = at.parent) {
    if (
      /^(if_statement|elif_clause|else_clause|except_clause)$/.test(at.type) &&
      !/__name__/.test(at.childForFieldName('condition')?.text ?? '')
    )
      return true;
  }
  return false;
}

/** The handle is used for more than being bound: removed, returned, kept somewhere. */
function isRemoved(statement: Node, body: Node): boolean {
  const left = assignmentOf(statement)?.childForFieldName('left');
  if (!left) return false;
  if (left.type !== 'identifier') return true;
  return [...descend(body)].some(
    (node) => node.type === 'identifier' && node.text === left.text && !isInside(node, statement),
  );
}

/** The loop that calls a function of this file again and again. */
function callingLoop(scope: FunctionScope, program: Program): Node | null {
  if (scope.body.type === 'module' || scope.name.startsWith('__')) return null;
  const calls = callsOf(scope, program.module);
  return forwardLoops(program).find(({ loop }) => calls.some((one) => isInside(one, loop)))?.loop ?? null;
}

/** Whether the module is older than `round`, a loop or the body of a function: it comes from a parameter or from outside. */
function outlives(object: Node, round: Node, depth = 0): boolean {
  let at = object;
  for (;;) {
    if (at.type === 'attribute') at = at.childForFieldName('object') ?? at;
    else if (at.type === 'subscript') at = at.childForFieldName('value') ?? at;
    else if (at.type === 'call') {
      // `model.get_submodule(name)`, `dict(model.named_modules())[name]`, `list(model.children())[-1]`
      const target = at.childForFieldName('function');
      const receiver = target?.childForFieldName('object') ?? null;
      const isPassing = target !== null && /^(dict|list|tuple|next|iter|reversed|getattr)$/.test(target.text);
      const inner = isPassing ? positional(at)[0] : receiver;
      const isPart =
        isPassing ||
        /^(get_submodule|(named_)?(modules|children)|eval|train|to|cuda)$/.test(
          target?.childForFieldName('attribute')?.text ?? '',
        );
      if (!inner || !isPart) return false;
      at = inner;
    } else break;
  }
  if (at.type !== 'identifier' || depth > 4) return false;
  const name = at.text;
  for (const node of descend(round, (inner) => inner === round || !isInner(inner))) {
    const left = node.type === 'assignment' || node.type === 'for_statement' ? node.childForFieldName('left') : null;
    if (left === null || ![...descend(left)].some((part) => part.type === 'identifier' && part.text === name)) continue;
    if (left.type === 'attribute' || left.type === 'subscript') continue;
    const right = node.childForFieldName('right');
    return left.type === 'identifier' && right !== null && outlives(right, round, depth + 1);
  }
  return true;
}
