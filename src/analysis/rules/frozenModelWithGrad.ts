import { text, type Finding, type Fix } from '../finding';
import { scopeAround, type ModuleScope } from '../scopes/module';
import { positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import { holdsSite, models, type Site } from '../values/sites';
import type { Value } from '../values/value';
import { backwardRoots } from './backwardRoots';
import { reason } from './keptGraph';
import { hasUnknownOptimizer, optimized } from './optimizers';
import { tensorOf } from './stores';
import type { Program, Rule } from './rule';

/**
 * P26 `frozen-model-with-grad`: a teacher, reference or target network that no optimizer updates runs with recording on:
 * its activations stay for the backward, and its parameters get gradients that nobody reads.
 */
export const frozenModelWithGrad: Rule = {
  slugs: ['frozen-model-with-grad'],
  wide: true,
  mentions: /backward/,
  *find(one, program) {
    // Where an optimizer is not known to the file, it may update any model.
    if (optimized(program).length === 0 || hasUnknownOptimizer(program)) return;
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
  if (
    sites.length === 0 ||
    isUpdated ||
    isFrozen(value) ||
    !sites.every((site) => isLeftOut(site, call, one, program) ?? isTrainedAgainst(call, program))
  )
    return null;
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

/**
 * What a module makes for itself is a layer of it: its parameters are that one's. It is left out where optimizers are given
 * other layers one by one, and a backward() goes through what the module answers. Null of what is no layer.
 */
function isLeftOut(part: Site, call: Node, one: Interpreted, program: Program): boolean | null {
  const owner = scopeAround(part.node, program.module)?.class;
  if (!owner?.isModule) return null;
  const isWhole = ({ node }: Site): boolean => node.childForFieldName('function')?.text === owner.name;
  const updated = optimized(program);
  return (
    updated.some(({ node }) => scopeAround(node, program.module)?.class === owner) &&
    !updated.some(isWhole) &&
    one.result.holds.some(({ id }) => id === call.id) &&
    backwardRoots(program).some((root) => models(root).some(isWhole))
  );
}

/** A backward() goes through this result and through a model that an optimizer updates: it trains one with the other. */
function isTrainedAgainst(call: Node, program: Program): boolean {
  const updated = optimized(program);
  return backwardRoots(program).some(
    (root) => root.some(({ id }) => id === call.id) && models(root).some((site) => holdsSite(updated, site)),
  );
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
