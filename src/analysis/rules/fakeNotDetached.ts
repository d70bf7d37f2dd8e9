import { text, type Finding } from '../finding';
import { withoutRetain } from '../fixes/removedArgument';
import { callsOf, functionAround } from '../scopes/gradMode';
import { scopeAround } from '../scopes/module';
import { callsWithin, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import { backPropagated, statementAround } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { holdsSite, models, type Sites } from '../values/sites';
import type { Value } from '../values/value';
import { reason } from './keptGraph';
import { optimized, steppedBy } from './optimizers';
import { tensorOf } from './stores';
import type { Program, Rule } from './rule';

/**
 * P20 `fake-not-detached`: a step that updates one model back-propagates through another one as well, whose output it was
 * given with its graph: the generator's activations stay for the discriminator's backward, which has no use for them.
 */
export const fakeNotDetached: Rule = {
  slugs: ['fake-not-detached'],
  wide: true,
  mentions: /backward/,
  *find(one, program) {
    for (const { syntax } of one.graph.points) {
      const environment = one.before.get(syntax.id);
      const root = environment === undefined ? null : rootOf(syntax, environment, one);
      if (root === null) continue;
      const stepped = stepAfter(syntax, one, program);
      if (stepped === null || stepped.length === 0) continue;
      const call = callWithForeign(root, stepped, one, program);
      // What a second backward goes through as well is meant to carry both graphs.
      if (call !== null && rootsThrough(call.call, one) === 1) yield finding(call.call, call.argument, syntax, program);
    }
  },
};

function rootsThrough(call: Node, one: Interpreted): number {
  return one.graph.points.filter(({ syntax }) => {
    const environment = one.before.get(syntax.id);
    const root = environment === undefined ? null : rootOf(syntax, environment, one);
    return root !== null && root.some((site) => site.id === call.id);
  }).length;
}

function rootOf(statement: Node, environment: Environment, one: Interpreted): Sites | null {
  if (statement.type !== 'expression_statement') return null;
  for (const node of descend(statement)) {
    const target = node.type === 'call' && backPropagated(node).length > 0 ? node.childForFieldName('function') : null;
    if (target?.childForFieldName('attribute')?.text !== 'backward') continue;
    const [given] = positional(node);
    const value = tensorOf(one.evaluator.evaluate(given ?? target.childForFieldName('object'), environment));
    return value?.graph === 'yes' ? value.holds : null;
  }
  return null;
}

/** What the next `step()` after a backward updates: in the function, or in the one that calls it. */
function stepAfter(statement: Node, one: Interpreted, program: Program): Sites | null {
  const here = nextStep(statement, one);
  if (here !== null) return here;
  const calls = callsOf(one.scope, program.module);
  const [call] = calls;
  if (calls.length !== 1 || call === undefined) return null;
  const around = scopeAround(call, program.module) ?? program.module.scopes[0];
  const caller = program.functions.find((other) => other.scope === around);
  return caller === undefined ? null : nextStep(statementAround(call), caller);
}

function nextStep(statement: Node, one: Interpreted): Sites | null {
  for (const { syntax } of one.graph.points) {
    if (syntax.startIndex < statement.endIndex) continue;
    const environment = one.before.get(syntax.id);
    if (environment === undefined || syntax.type !== 'expression_statement') continue;
    const stepped = steppedBy(syntax, environment, one);
    if (stepped !== null) return stepped;
    if ([...descend(syntax)].some((node) => node.type === 'call' && backPropagated(node).length > 0)) return null;
  }
  return null;
}

interface Foreign {
  call: Node;
  argument: Node;
}

/** The call of a model that is updated, with a result of one that is not updated now but by another optimizer. */
function callWithForeign(root: Sites, stepped: Sites, one: Interpreted, program: Program): Foreign | null {
  const all = optimized(program);
  for (const { syntax, own } of one.graph.points) {
    const environment = one.before.get(syntax.id);
    if (environment === undefined) continue;
    for (const call of own.flatMap((part) => [...descend(part)])) {
      // The result of this very call is back-propagated.
      if (call.type !== 'call' || !root.some((site) => site.id === call.id)) continue;
      const evaluate = (node: Node | null): Value => one.evaluator.evaluate(node, environment);
      const called = evaluate(call.childForFieldName('function'));
      // A function of this file that is given the model as well computes with both.
      const callees = called.kind === 'function' ? positional(call).map((given) => evaluate(given)) : [called];
      if (!callees.some((model) => isModel(model) && overlaps(models(model.holds), stepped))) continue;
      for (const argument of positional(call)) {
        const given = tensorOf(evaluate(argument));
        if (given?.graph !== 'yes') continue;
        const foreign = models(given.holds).filter((site) => !holdsSite(stepped, site) && holdsSite(all, site));
        if (foreign.length > 0 && !overlaps(models(given.holds), stepped)) return { call, argument };
      }
    }
  }
  return null;
}

function isModel(value: Value): boolean {
  return (value.kind === 'module' && !value.loss) || (value.kind === 'instance' && value.of.isModule);
}

function overlaps(a: Sites, b: Sites): boolean {
  return a.some((site) => holdsSite(b, site));
}

/**
 * Where the graph is cut: at the argument, or where it was made if nothing else uses it. Its name would keep a graph that
 * no backward() frees any more.
 */
function cutAt(argument: Node): Node {
  const around = functionAround(argument);
  if (argument.type !== 'identifier' || around === null) return argument;
  const mentions = [...descend(around)].filter((node) => node.type === 'identifier' && node.text === argument.text);
  const [made, used, ...more] = mentions;
  const assignment = made?.parent;
  if (used !== argument || more.length > 0 || assignment?.type !== 'assignment') return argument;
  const right = assignment.childForFieldName('right');
  return right?.type === 'call' && assignment.childForFieldName('left') === made ? right : argument;
}

function finding(call: Node, argument: Node, backward: Node, { source }: Program): Finding {
  const statement = statementAround(call);
  const cut = cutAt(argument);
  const isPlain = /^(identifier|attribute|call)$/.test(cut.type);
  return {
    ...{ rule: 'fake-not-detached', severity: 'warning', start: statement.startIndex, end: statement.endIndex },
    message: text(
      '{0} comes with the graph of the model that made it, and this step updates another one: its activations are kept for a backward() that has no use for them. Detach it here.',
      argument.text,
    ),
    chain: [
      reason(argument, text('This carries the graph of a model that another optimizer updates.')),
      reason(backward, text('This backward() goes through both models.')),
    ],
    fixes: isPlain
      ? [
          {
            ...{ title: text('Keep the value without its graph: {0}', `${cut.text}.detach()`), safe: false },
            edits: [
              { start: cut.endIndex, end: cut.endIndex, newText: '.detach()' },
              // It was retained for the generator's step.
              ...[...callsWithin(backward)].flatMap((one) => withoutRetain(one, source)),
            ],
          },
        ]
      : [],
  };
}
