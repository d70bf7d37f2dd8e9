import { text, type Finding, type Fix } from '../finding';
import { isEmptied, isRenewed } from '../flow/loops';
import { isInside, loopPaths, runsIn } from '../flow/within';
import { callsOf } from '../scopes/gradMode';
import { ownFunctions } from '../flow/backward';
import { scopeAround, type ClassScope, type FunctionScope } from '../scopes/module';
import { calledName, callsWithin } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf, statementAround } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';
import { tensorsIn, writtenAt } from './stores';

/**
 * P34 `metric-not-reset`: a metric that keeps every prediction is updated in the batches of every epoch, and nothing resets
 * it between the epochs: a class of this file whose `update` appends, or one of torchmetrics with list state.
 */
export const metricNotReset: Rule = {
  slugs: ['metric-not-reset'],
  *find(one, program) {
    yield* ownMetric(one, program);
    yield* libraryMetrics(one, program);
  },
};

const updating = /^(update|add|add_batch|append|accumulate|collect|observe|process|__call__|forward)$/;
const computing =
  /^(compute|result|results|summary|summarize|summarise|value|score|scores|evaluate|get|finalize|metrics?)\w*$/;

interface Usage {
  /** The object as it is written where it is updated. */
  object: string;
  update: Node;
  /** The loop over the batches, and the one around it. */
  inner: Node;
  outer: Node;
}

/** The first statement of an `update` that keeps a whole tensor, where it is called epoch after epoch without a reset. */
function* ownMetric(one: Interpreted, program: Program): Iterable<Finding> {
  const { scope } = one;
  const owner = scope.class;
  const methods = owner === null ? [] : [...owner.methods.values()];
  if (owner === null || !updating.test(scope.name) || !methods.some(({ name }) => computing.test(name))) return;
  for (const { syntax } of one.graph.points) {
    const environment = one.before.get(syntax.id);
    const written = environment === undefined ? null : writtenAt(syntax, one, environment);
    if (environment === undefined || written === null || (written.how !== 'append' && written.how !== 'queue'))
      continue;
    const state = stateOf(written.target, scope);
    if (state === null || isRenewed(scope.body, state)) continue;
    const value = one.evaluator.evaluate(written.target, environment);
    if (written.how === 'append' && (value.kind !== 'container' || value.bounded)) continue;
    const kept = [...tensorsIn(written.expression, one, environment)].find(
      ({ value: tensor }) => tensor.graph !== 'yes' && !tensor.scalar && !tensor.host,
    );
    if (kept === undefined) continue;
    const resets = methods.filter((method) => method !== scope && method.name !== '__init__' && empties(method, state));
    const usage = usageOf(scope, owner, state, resets, program);
    if (usage === null) continue;
    yield finding(
      syntax,
      state,
      usage,
      [
        reason(kept.expression, text('Every batch adds these values.')),
        reason(usage.update, text('It is updated here.')),
      ],
      resetFix(usage, resets[0], program),
    );
    return;
  }
}

/** `self.scores`, also of `self.scores["a"]`. */
function stateOf(target: Node, scope: FunctionScope): string | null {
  let at: Node | null = target;
  while (at?.type === 'subscript') at = at.childForFieldName('value');
  return at?.type === 'attribute' && at.childForFieldName('object')?.text === scope.parameters[0] ? at.text : null;
}

function empties(method: FunctionScope, state: string): boolean {
  const own = `${method.parameters[0]}${state.slice(state.indexOf('.'))}`;
  return isRenewed(method.body, own) || isEmptied(method.body, own);
}

/** Where objects of the class are updated in a loop within a loop, older than both, and nothing resets them in the outer one. */
function usageOf(
  update: FunctionScope,
  owner: ClassScope,
  state: string,
  resets: readonly FunctionScope[],
  program: Program,
): Usage | null {
  const { module } = program;
  const name = update.name === '__call__' || update.name === 'forward' ? null : update.name;
  const calls = name === null ? [...module.calls.values()].flat() : callsOf(update, module);
  const attribute = state.slice(state.indexOf('.') + 1);
  for (const call of calls) {
    const target = call.childForFieldName('function');
    const object = name === null ? target : (target?.childForFieldName('object') ?? null);
    if (object === null || !isObjectOf(object, owner, program)) continue;
    for (const loops of loopPaths(call, module)) {
      const carrying = loops.filter((loop) => !isOverLiteral(loop) && !makesIn(owner, loop, program));
      const [inner, outer] = carrying;
      if (
        inner === undefined ||
        outer === undefined ||
        carrying.some((loop) => resetsIn(loop, resets, attribute, program))
      )
        continue;
      return { object: object.text, update: call, inner, outer };
    }
  }
  return null;
}

function isObjectOf(object: Node, owner: ClassScope, program: Program): boolean {
  const around = scopeAround(object, program.module) ?? program.module.scopes[0];
  const one = program.functions.find(({ scope }) => scope === around);
  const environment = one?.before.get(statementAround(object).id);
  if (one === undefined || environment === undefined) return false;
  const value = one.evaluator.evaluate(object, environment);
  return value.kind === 'instance' && (value.of === owner || value.of.bases.has(owner.name));
}

const isOverLiteral = (loop: Node): boolean => /^[[({]/.test(loop.childForFieldName('right')?.text ?? '');

/** Whether a loop makes the object anew, itself or in a function that it calls. */
function makesIn(owner: ClassScope, loop: Node, { module }: Program): boolean {
  const made = module.calls.get(owner.name) ?? [];
  return made.some((call) => {
    if (isInside(call, loop)) return true;
    const scope = scopeAround(call, module);
    return scope !== null && runsIn(scope, loop, module);
  });
}

/** A call of one of the resetting methods, or `metric.scores.clear()`, in a loop or in functions that it calls. */
function resetsIn(
  inside: Node,
  resets: readonly FunctionScope[],
  attribute: string,
  program: Program,
  seen: Set<FunctionScope> = new Set(),
): boolean {
  const names = new Set(resets.map(({ name }) => name));
  for (const node of descend(inside)) {
    const state =
      node.type === 'attribute' && node.childForFieldName('attribute')?.text === attribute ? node.text : null;
    if (state !== null && (isRenewed(inside, state) || isEmptied(inside, state))) return true;
    if (node.type !== 'call') continue;
    if (names.has(calledName(node)) || calledName(node) === 'reset') return true;
    const target = node.childForFieldName('function');
    for (const scope of target === null ? [] : ownFunctions(target, program.module)) {
      if (seen.has(scope) || updating.test(scope.name)) continue;
      seen.add(scope);
      if (resetsIn(scope.body, resets, attribute, program, seen)) return true;
    }
  }
  return false;
}

/** Metrics of torchmetrics whose state is a list of all predictions, unless thresholds bound it. */
const listState =
  /^torchmetrics\.(\w+\.)*((Binary|Multiclass|Multilabel)?(AUROC|AveragePrecision|ROC|PrecisionRecallCurve|CalibrationError)|CatMetric|SpearmanCorrCoef|KendallRankCorrCoef|CosineSimilarity|MeanAveragePrecision|Retrieval\w+|ROUGEScore|BERTScore|KernelInceptionDistance|InceptionScore)$/;

function* libraryMetrics(one: Interpreted, program: Program): Iterable<Finding> {
  const { module } = program;
  for (const { syntax } of one.graph.points) {
    const assignment = assignmentOf(syntax);
    const left = assignment?.childForFieldName('left');
    const made = assignment ? listMetricIn(assignment.childForFieldName('right'), one) : null;
    if (!left || made === null || /LightningModule|lightning/.test(program.source)) continue;
    const { text: name } = left;
    const updates = [
      ...callsWithin(module.root),
      ...module.scopes.flatMap(({ body }) => [...callsWithin(body)]),
    ].filter((call) => {
      const target = call.childForFieldName('function')?.text;
      const isSame = left.type === 'attribute' || scopeAround(call, module) === scopeAround(syntax, module);
      return isSame && (target === `${name}.update` || target === name);
    });
    const usage = updates
      .flatMap((update) =>
        loopPaths(update, module).map((loops) => ({ update, loops: loops.filter((loop) => !isOverLiteral(loop)) })),
      )
      .find(
        ({ loops }) =>
          loops.length > 1 && !loops.some((loop) => isInside(syntax, loop) || resetsIn(loop, [], '', program)),
      );
    const [inner, outer] = usage?.loops ?? [];
    if (usage === undefined || inner === undefined || outer === undefined) continue;
    const found = { object: name, update: usage.update, inner, outer };
    yield finding(
      statementAround(usage.update),
      name,
      found,
      [reason(made, text('{0} keeps all predictions in a list.', name))],
      resetFix(found, null, program),
    );
  }
}

function listMetricIn(right: Node | null, one: Interpreted): Node | null {
  let at = right;
  // `AUROC(task="binary").to(device)`
  while (at?.type === 'call' && at.childForFieldName('function')?.childForFieldName('object')?.type === 'call')
    at = at.childForFieldName('function')?.childForFieldName('object') ?? null;
  const target = at?.type === 'call' ? at.childForFieldName('function') : null;
  if (at === null || target === null || !listState.test(one.evaluator.dotted(target) ?? '')) return null;
  return /thresholds\s*=(?!\s*None)|compute_on_cpu\s*=\s*True/.test(at.childForFieldName('arguments')?.text ?? '')
    ? null
    : at;
}

function finding(statement: Node, state: string, usage: Usage, chain: Finding['chain'], fix: Fix | null): Finding {
  return {
    ...{ rule: 'metric-not-reset', severity: 'error', start: statement.startIndex, end: statement.endIndex },
    message: text(
      '{0} keeps the values of every batch, and nothing resets {1} between the rounds of the outer loop: GPU memory grows with every epoch, and each result mixes all of them. {1}.reset() after its result is taken frees them; running counts need none.',
      ...[state, usage.object],
    ),
    chain: [
      ...chain,
      reason(usage.inner, text('Every round of this loop adds one more.')),
      reason(usage.outer, text('This loop does it again, without a reset in any of its rounds.')),
    ],
    fixes: fix === null ? [] : [fix],
  };
}

/** `metric.reset()` behind the statement of the outer loop that takes the result. */
function resetFix(
  { object, inner, outer }: Usage,
  reset: FunctionScope | undefined | null,
  { source }: Program,
): Fix | null {
  if (reset === undefined || (reset !== null && reset.parameters.length > 1)) return null;
  const call = [...callsWithin(outer)].find(
    (one) =>
      one.childForFieldName('function')?.childForFieldName('object')?.text === object &&
      computing.test(calledName(one)) &&
      !isInside(one, inner),
  );
  const statement = call === undefined ? null : statementAround(call);
  if (statement === null || statement.type !== 'expression_statement' || children(statement).length === 0) return null;
  const indent = source.slice(source.lastIndexOf('\n', statement.startIndex - 1) + 1, statement.startIndex);
  if (indent.trim() !== '' || !/^[ \t]*(#[^\n]*)?\r?(\n|$)/.test(source.slice(statement.endIndex))) return null;
  const added = `${object}.${reset?.name ?? 'reset'}()`;
  return {
    ...{ title: text('Reset it once its result is taken: {0}', added), safe: false },
    edits: [{ start: statement.endIndex, end: statement.endIndex, newText: `\n${indent}${added}` }],
  };
}
