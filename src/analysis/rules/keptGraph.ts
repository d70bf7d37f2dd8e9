import { text, type Finding, type Reason, type Text } from '../finding';
import { detachFixes } from '../fixes/detach';
import { mayBeBackPropagated } from '../flow/backward';
import { carryingLoop, carryingLoops, firstAssignment } from '../flow/loops';
import { callsOf } from '../scopes/gradMode';
import { scopeAround } from '../scopes/module';
import { originOf, type Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { backPropagated, statementAround } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import type { Program } from './rule';
import type { KeptTensor, Store } from './stores';

/**
 * The first tensor of a store whose graph stays for good: nothing back-propagates it, as far as the file shows. Null
 * where there is none, or where a `backward()` may still come. What a caller knows to be spent stays after that as well.
 */
export function keptGraphOf(store: Store, one: Interpreted, program: Program, isSpent = false): KeptTensor | null {
  const chains = store.how === 'average' || store.how === 'queue';
  const kept = store.tensors.find(({ value }) => value.graph === 'yes' && (chains || !isParameter(value.from)));
  if (kept === undefined) return null;
  // A graph whose buffers are gone cannot be back-propagated any more; nor can one that reaches into earlier steps.
  const isDone = isSpent || kept.value.freed === 'yes' || (chains && crossesBackward(store));
  // A list that is emptied now and then, of graphs whose activations are gone, is bounded and small.
  if (store.isRenewed && store.loop === null && kept.value.freed !== 'no') return null;
  if (!isDone && mayBeBackPropagated(store.keeper, store.statement, one.scope, program.module)) return null;
  if (store.keeperOf === 'parameter' && !callersKeep(store, one, program, isDone)) return null;
  return kept;
}

/** Whether what is carried on outlives a `backward()`: an attribute from call to call, a name over a loop with one in it. */
function crossesBackward({ keeper, keeperOf, loop, statement }: Store): boolean {
  if (loop === null || keeperOf === 'object') return keeperOf === 'object' || keeperOf === 'outer';
  return carryingLoops(statement, keeper).some((around) =>
    [...descend(around)].some((node) => node.type === 'call' && backPropagated(node).length > 0),
  );
}

/** `p.norm()` of a parameter: its graph is the parameter itself, which lives anyway. */
export function isParameter(from: Node | null): boolean {
  if (from?.type === 'attribute') return true;
  return /(^|\.)(named_)?parameters$/.test(from?.childForFieldName('function')?.text ?? '');
}

/** A list of the caller's: it must outlive the caller's loop, and be back-propagated by nobody there. */
function callersKeep(store: Store, one: Interpreted, program: Program, isDone: boolean): boolean {
  const { scope } = one;
  const shift = scope.class !== null && !scope.isStatic ? 1 : 0;
  const index = scope.parameters.indexOf(store.keeper) - shift;
  const calls = callsOf(scope, program.module);
  return (
    calls.length > 0 &&
    calls.every((call) => {
      const argument = argumentAt(call, index, store.keeper);
      const caller = scopeAround(call, program.module) ?? program.module.scopes[0];
      if (argument === null || caller === undefined) return false;
      if (argument.type !== 'identifier' && argument.type !== 'attribute') return false;
      const statement = statementAround(call);
      const outlives = argument.type === 'attribute' || carryingLoop(statement, argument.text) !== null;
      return outlives && (isDone || !mayBeBackPropagated(argument.text, statement, caller, program.module));
    })
  );
}

export function argumentAt(call: Node, index: number, name: string): Node | null {
  const given = children(call.childForFieldName('arguments') ?? call);
  const named = given.find((one) => one.type === 'keyword_argument' && one.childForFieldName('name')?.text === name);
  if (named !== undefined) return named.childForFieldName('value');
  const positional = given[index];
  return positional === undefined || positional.type === 'keyword_argument' ? null : positional;
}

/** The finding on a kept graph: an error while the activations stay on the GPU, a hint once `backward()` freed them. */
export function keptFinding(rule: string, store: Store, kept: KeptTensor, one: Interpreted, program: Program): Finding {
  const { statement, keeper } = store;
  const freed = kept.value.freed !== 'no';
  const last = freed
    ? reason(
        kept.expression,
        text('backward() has freed the activations; the autograd nodes and the loss itself stay.'),
      )
    : reason(statement, text('No backward() is ever called on what {0} keeps, so nothing frees these graphs.', keeper));
  return {
    ...{ rule, severity: freed ? 'hint' : 'error', start: statement.startIndex, end: statement.endIndex },
    message: freed
      ? text(
          '{0} keeps the autograd history of every step: host memory grows, and a small block of GPU memory per step.',
          keeper,
        )
      : text(
          '{0} keeps the graph of every round with all its activations: GPU memory grows until it runs out.',
          keeper,
        ),
    chain: [...keepingChain(store, kept, one), last],
    fixes: kept.isItself ? detachFixes(kept.expression, keeper, kept.value.scalar, one.scope, program.module) : [],
  };
}

export function reason(node: Node, message: Text): Reason {
  return { start: node.startIndex, end: firstLineEnd(node), message, origin: originOf(node) };
}

/** Why a kept tensor costs: where its graph comes from, and what keeps it round after round. */
function keepingChain(
  { keeper, keeperOf, loop, keeperValue }: Store,
  { value }: KeptTensor,
  one: Interpreted,
): Reason[] {
  const chain: Reason[] = [];
  if (value.from !== null)
    chain.push(reason(value.from, text('The graph is recorded here, with the activations it needs.')));
  const made = keeperValue.kind === 'container' ? keeperValue.made : null;
  const start = keeperOf === 'function' ? firstAssignment(one.scope.body, keeper) : made;
  if (start !== null) chain.push(reason(start, text('{0} begins here and lives on from round to round.', keeper)));
  if (loop !== null) chain.push(reason(loop, text('Every round of this loop adds one more graph to {0}.', keeper)));
  return chain;
}

/** Long nodes (a loop with its body) are pointed at by their first line. */
export function firstLineEnd(node: Node): number {
  const line = node.text.indexOf('\n');
  return line < 0 ? node.endIndex : node.startIndex + line;
}
