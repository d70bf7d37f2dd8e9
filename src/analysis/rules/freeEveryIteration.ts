import { text, type Finding } from '../finding';
import { removal } from '../fixes/statementLines';
import { loopsAround } from '../flow/loops';
import { isInside } from '../flow/within';
import { callsOf } from '../scopes/gradMode';
import { dottedName, type FunctionScope, type ModuleScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';

/**
 * P14 `free-every-iteration`: `gc.collect()` or `empty_cache()` in every training step. Each step then waits for the
 * collector and asks the driver for the same memory again.
 */
export const freeEveryIteration: Rule = {
  slugs: ['free-every-iteration'],
  mentions: /empty_cache|gc\.collect|\bcollect\b/,
  *find(one, program) {
    const byStep = new Map<Node, Node[]>();
    for (const { syntax } of one.graph.points) {
      const call = syntax.type === 'expression_statement' ? children(syntax)[0] : undefined;
      if (call === undefined || !frees(call, program.module)) continue;
      const step = stepAround(syntax, one, program);
      if (step !== null) byStep.set(step, [...(byStep.get(step) ?? []), syntax]);
    }
    for (const [step, statements] of byStep) yield finding(step, statements, program);
  },
};

export function frees(call: Node, module: ModuleScope): boolean {
  const target = call.type === 'call' ? call.childForFieldName('function') : null;
  const name = target === null ? null : dottedName(target, module.imports);
  return name !== null && /^(gc\.collect|torch\.(cuda|xpu|mps)(\.memory)?\.empty_cache)$/.test(name);
}

function finding(step: Node, statements: readonly Node[], { source }: Program): Finding {
  const [first] = statements as [Node];
  const calls = [...new Set(statements.map((one) => one.text))].join(', ');
  return {
    ...{ rule: 'free-every-iteration', severity: 'hint', start: first.startIndex, end: first.endIndex },
    message: text(
      '{0} runs in every training step: the step waits for it, and the memory it gives back is asked of the driver again in the next one. Without it the steps are faster; once per epoch is enough.',
      calls,
    ),
    chain: [
      reason(step, text('This runs once per training step.')),
      ...statements.map((one) => reason(one, text('Nothing but the step itself decides whether this runs.'))),
    ],
    fixes: [
      {
        title: text('Remove {0}', calls),
        safe: true,
        edits: statements.map((one) => removal(one, source)).filter(isFirst),
      },
    ],
  };
}

/** Two calls in one branch take the branch away twice. */
function isFirst(edit: { start: number }, index: number, all: readonly { start: number }[]): boolean {
  return all.findIndex((other) => other.start === edit.start) === index;
}

/** The loop or function that makes one training step per round or call, and `statement` in each of them. */
export function stepAround(statement: Node, one: Interpreted, program: Program): Node | null {
  const { module } = program;
  const [loop] = loopsAround(statement);
  const around = loop ?? one.scope.node;
  if (!isUnconditional(statement, around)) return null;
  if (loop !== undefined) return isStepLoop(loop, one, program) ? loop : null;
  if (one.scope.body.type === 'module') return null;
  return isStepFunction(one.scope, module) ? one.scope.node : null;
}

/** Conditions that only ask for the device do not count: they are the same in every round. */
const asksForDevice = /^(?!.*(%|\bnot\b|!=|>|<)).*\b(is_available\(\)|cuda|mps|xpu|device)\b/;

function isUnconditional(statement: Node, around: Node): boolean {
  let at = statement;
  for (let outer = at.parent; outer !== null && at.id !== around.id; at = outer, outer = at.parent) {
    switch (outer.type) {
      case 'except_clause':
      case 'else_clause':
      case 'elif_clause':
      case 'case_clause':
        return false;
      case 'if_statement': {
        const condition = outer.childForFieldName('condition');
        if (condition === null || !asksForDevice.test(condition.text)) return false;
        break;
      }
      case 'block':
        if (children(outer).some((other) => other.startIndex < at.startIndex && mayLeaveRound(other))) return false;
    }
  }
  return true;
}

/** `if step % 4: continue`, or a try that ends the loop where it succeeds. */
function mayLeaveRound(statement: Node): boolean {
  if (statement.type === 'if_statement') {
    const isRare = /%/.test(statement.childForFieldName('condition')?.text ?? '');
    return isRare && [...descend(statement)].some((node) => /^(continue|return)_statement$/.test(node.type));
  }
  if (statement.type !== 'try_statement') return false;
  return [...descend(statement)].some((node) => /^(break|return)_statement$/.test(node.type));
}

/** A loop whose rounds are training steps: it back-propagates itself, and neither measures memory nor makes models. */
function isStepLoop(loop: Node, one: Interpreted, program: Program): boolean {
  if (makesModel(loop, one) || measures(loop)) return false;
  for (const node of descend(loop, isOutside)) {
    if (node.type !== 'call' || loopsAround(node)[0]?.id !== loop.id) continue;
    if (isTrainingCall(node)) return true;
    if (functionsOf(node, program.module).some((scope) => trainsOnce(scope) && !isTrial(scope, program))) return true;
  }
  return false;
}

const isOutside = (node: Node): boolean => !/^(function_definition|lambda|class_definition)$/.test(node.type);

/** `loss.backward()`, `optimizer.step()`; a scheduler's step comes once per epoch as well. */
function isTrainingCall(call: Node): boolean {
  const target = call.childForFieldName('function');
  const name = target?.childForFieldName('attribute')?.text ?? '';
  return name === 'backward' || name === 'manual_backward';
}

/** A function that trains a model of its own: each call is a trial. */
function isTrial(scope: FunctionScope, { functions }: Program): boolean {
  const one = functions.find((other) => other.scope === scope);
  return one !== undefined && makesModel(scope.body, one);
}

/** Trains in its own statements, outside of any loop of its own. */
function trainsOnce(scope: FunctionScope): boolean {
  for (const node of descend(scope.body, isOutside))
    if (node.type === 'call' && isTrainingCall(node) && loopsAround(node).length === 0) return true;
  return false;
}

/** Functions of this file that a call means: methods of other objects where only one class has such a one. */
function functionsOf(call: Node, module: ModuleScope): readonly FunctionScope[] {
  const target = call.childForFieldName('function');
  if (target?.type === 'identifier') return module.named.get(target.text) ?? [];
  const name = target?.childForFieldName('attribute')?.text ?? '';
  const methods = module.methods.get(name) ?? [];
  if (target?.childForFieldName('object')?.text === 'self') return methods;
  // `step` is what optimizers, schedulers and environments have, too.
  return methods.length === 1 && name !== 'step' ? methods : [];
}

/** Hooks that Lightning calls once per step. */
const stepHook =
  /^(training_step|optimizer_step|on_train_batch_(start|end)|on_before_zero_grad|on_(before|after)_backward)$/;

/** A function that is one training step: called in a loop of this file, or by a framework. */
function isStepFunction(scope: FunctionScope, module: ModuleScope): boolean {
  const bases = [...(scope.class?.bases ?? [])];
  if (stepHook.test(scope.name) && bases.some((base) => /(LightningModule|Callback)$/.test(base))) return true;
  if (!trainsOnce(scope) || /bench|profil|measure|trial/i.test(scope.name) || measures(scope.body)) return false;
  return callsOf(scope, module).some((call) => {
    const [loop] = loopsAround(call);
    return loop !== undefined && !measures(loop);
  });
}

function makesModel(inside: Node, one: Interpreted): boolean {
  for (const node of descend(inside, isOutside)) {
    if (node.type !== 'assignment') continue;
    const statement = node.parent?.id ?? -1;
    const value = one.after.get(statement)?.get(node.childForFieldName('left')?.text ?? '');
    const isModel = (value?.kind === 'module' && !value.loss) || (value?.kind === 'instance' && value.of.isModule);
    const right = node.childForFieldName('right');
    if (isModel && right?.type === 'call' && value.holds.some((site) => isInside(site.node, right))) return true;
  }
  return false;
}

const measures = (node: Node): boolean =>
  /\b(reset_peak_memory_stats|reset_max_memory_allocated|max_memory_allocated|benchmark)\b/.test(node.text);
