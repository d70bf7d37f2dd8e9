import { text, type Finding, type Fix } from '../finding';
import { backwardIn } from '../flow/training';
import { resultMayBeBackPropagated } from '../flow/backward';
import type { ModuleScope } from '../scopes/module';
import { positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { holdsSite, models } from '../values/sites';
import type { Value } from '../values/value';
import { reason } from './keptGraph';
import { optimized } from './optimizers';
import { tensorOf } from './stores';
import type { Program, Rule } from './rule';

const frozenName =
  /teacher|target|(^|[_.])ref(erence)?([_.]|$)|frozen|(^|[_.])ema([_.]|$)|momentum_enc|vgg|perceptual|old_policy/i;

/**
 * P26 `frozen-model-with-grad`: a teacher, reference or target network that no optimizer updates runs with recording on:
 * its activations stay for the backward, and its parameters get gradients that nobody reads.
 */
export const frozenModelWithGrad: Rule = {
  slugs: ['frozen-model-with-grad'],
  mentions: /backward/,
  *find(one, program) {
    if (optimized(program).length === 0 || !trains(one, program)) return;
    for (const { syntax, own } of one.graph.points) {
      const environment = one.before.get(syntax.id);
      if (environment === undefined) continue;
      for (const call of own.flatMap((part) => [...descend(part)])) {
        const model = call.type === 'call' ? frozenModel(call, environment, one, program) : null;
        if (model === null) continue;
        yield finding(call, model, syntax, program);
        break;
      }
    }
  },
};

/** The function back-propagates, or answers what its caller does. */
function trains(one: Interpreted, { module }: Program): boolean {
  return (
    backwardIn(one.scope, module) || (one.scope.name !== 'forward' && resultMayBeBackPropagated(one.scope, module))
  );
}

/** The model that a call runs, or gives to a function of the file, without need of a graph. */
function frozenModel(call: Node, environment: Environment, one: Interpreted, program: Program): Node | null {
  const target = call.childForFieldName('function');
  if (target === null || one.evaluator.recording(call) !== 'yes') return null;
  const result = tensorOf(one.evaluator.evaluate(call, environment));
  if (result?.graph !== 'yes') return null;
  const arguments_ = positional(call);
  const own = one.evaluator.evaluate(target, environment);
  const model = isModel(own)
    ? target
    : (arguments_.find((node) => isModel(one.evaluator.evaluate(node, environment))) ?? null);
  if (model === null || (!isModel(own) && own.kind !== 'function')) return null;
  const value = one.evaluator.evaluate(model, environment);
  const sites = models(value.holds);
  const isUpdated = sites.some((site) => holdsSite(optimized(program), site));
  if (sites.length === 0 || isUpdated || isFrozen(value) || !isMeantFrozen(model, program.module)) return null;
  // A gradient has to go through it to what it was given: a perceptual loss, an attack.
  const carries = arguments_.some((node) => {
    const given = node === model ? null : tensorOf(one.evaluator.evaluate(node, environment));
    return given !== null && given.graph !== 'no';
  });
  return carries ? null : model;
}

function isModel(value: Value): boolean {
  return (value.kind === 'module' && !value.loss && !value.bare) || (value.kind === 'instance' && value.of.isModule);
}

function isFrozen(value: Value): boolean {
  return (value.kind === 'module' || value.kind === 'instance') && value.frozen;
}

/** By its name, or since it is put into evaluation mode and never into training mode. */
function isMeantFrozen(model: Node, module: ModuleScope): boolean {
  if (frozenName.test(model.text)) return true;
  const calls = (name: string): boolean =>
    (module.calls.get(name) ?? []).some(
      (call) => call.childForFieldName('function')?.childForFieldName('object')?.text === model.text,
    );
  return calls('.eval') && !calls('.train');
}

function finding(call: Node, model: Node, statement: Node, { source, module }: Program): Finding {
  return {
    ...{ rule: 'frozen-model-with-grad', severity: 'warning', start: statement.startIndex, end: statement.endIndex },
    message: text(
      'No optimizer updates {0}, and yet its graph is recorded: its activations stay until the backward, and its parameters get gradients that nobody reads. Run it under torch.no_grad().',
      model.text,
    ),
    chain: [reason(call, text('The graph of {0} is recorded here.', model.text))],
    fixes: noGradAround(statement, call, source, module),
  };
}

/** `with torch.no_grad():` around an assignment whose value is this call and what is done with its result. */
function noGradAround(statement: Node, call: Node, source: string, module: ModuleScope): Fix[] {
  const right = statement.type === 'expression_statement' ? assignmentOf(statement)?.childForFieldName('right') : null;
  const torch = [...module.imports].find(([, meaning]) => meaning === 'torch')?.[0];
  const isAlone = right !== null && right !== undefined && (right === call || isChainOf(right, call));
  const start = source.lastIndexOf('\n', statement.startIndex - 1) + 1;
  const indent = source.slice(start, statement.startIndex);
  if (!isAlone || torch === undefined || indent.trim() !== '' || statement.text.includes('\n')) return [];
  const step = indent.includes('\t') ? '\t' : '    ';
  const end = source.slice(0, start).endsWith('\r\n') ? '\r\n' : '\n';
  const newText = `with ${torch}.no_grad():${end}${indent}${step}`;
  return [
    {
      ...{ title: text('Record no graph here: with torch.no_grad()'), safe: true },
      edits: [{ start: statement.startIndex, end: statement.startIndex, newText }],
    },
  ];
}

/** `call.method(…).attribute[…]`. */
function isChainOf(expression: Node, call: Node): boolean {
  let at: Node | null = expression;
  while (at !== null && at !== call) {
    const inside: Node | null =
      at.type === 'call'
        ? (at.childForFieldName('function')?.childForFieldName('object') ?? null)
        : at.type === 'attribute'
          ? at.childForFieldName('object')
          : at.type === 'subscript'
            ? (children(at)[0] ?? null)
            : null;
    at = inside;
  }
  return at === call;
}
