import { text, type Finding, type Fix } from '../finding';
import { addition } from '../fixes/statementLines';
import { namesAt } from '../flow/names';
import { isInside } from '../flow/within';
import type { FunctionScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf, namesIn } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { reason } from './keptGraph';
import { livenessIn, workAhead } from './lifetimes';
import type { Program, Rule } from './rule';
import { worksWithTensors } from './tensorWork';

/**
 * P15 `checkpoint-kept`: a loaded checkpoint stays bound after its last use while the training or the inference runs: a
 * second copy of the weights, and of the optimizer's moments, on the device they were saved from.
 */
export const checkpointKept: Rule = {
  slugs: ['checkpoint-kept'],
  mentions: /\bload\w*\(/,
  *find(one, program) {
    yield* onObject(one, program);
    const seen = new Set<string>();
    for (const point of one.graph.points) {
      const assignment = point.syntax.type === 'expression_statement' ? assignmentOf(point.syntax) : null;
      const left = assignment?.childForFieldName('left');
      const right = assignment?.childForFieldName('right');
      const environment = one.before.get(point.syntax.id);
      if (left?.type !== 'identifier' || !right || environment === undefined) continue;
      const value = one.evaluator.evaluate(right, environment);
      if (value.kind !== 'holder' || value.role !== 'checkpoint' || value.host || right.type !== 'call') continue;
      const last = lastUses(left.text, point.syntax, one);
      if (last.length === 0 || livenessIn(one).isCaptured(left.text) || !isLoaded(left.text, one)) continue;
      if (seen.has(left.text)) continue;
      seen.add(left.text);
      const work = last.map((id) => workAhead(id, one, program)).find((next) => next !== null);
      if (work === null || work === undefined) continue;
      const end = one.graph.points[last.at(-1) ?? 0]?.syntax ?? point.syntax;
      yield {
        ...{ rule: 'checkpoint-kept', severity: 'warning', start: point.syntax.startIndex, end: point.syntax.endIndex },
        message: text(
          '{0} stays in memory to the end, on the GPU it was saved from: a second copy of everything it holds. Load it with map_location="cpu" and del {0} after its last use.',
          left.text,
        ),
        chain: [reason(end, text('This is its last use.')), reason(work, text('This computes beside it.'))],
        fixes: fixes(left.text, right, end, last.length === 1, point.syntax, program),
      };
    }
  },
};

/** `self.state = torch.load(…)` in a constructor that alone reads it: the object keeps the checkpoint as long as it lives. */
function* onObject(one: Interpreted, program: Program): Iterable<Finding> {
  const { scope } = one;
  if (scope.class === null || scope.name !== '__init__') return;
  for (const { syntax } of one.graph.points) {
    const assignment = syntax.type === 'expression_statement' ? assignmentOf(syntax) : null;
    const left = assignment?.childForFieldName('left');
    const right = assignment?.childForFieldName('right');
    const environment = one.before.get(syntax.id);
    if (left?.type !== 'attribute' || right?.type !== 'call' || environment === undefined) continue;
    const value = one.evaluator.evaluate(right, environment);
    if (value.kind !== 'holder' || value.role !== 'checkpoint' || value.host) continue;
    const name = left.childForFieldName('attribute')?.text ?? '';
    const mentions = mentionsOf(name, program.module.root);
    const isOwn = left.childForFieldName('object')?.text === scope.parameters[0];
    if (!isOwn || !mentions.every((mention) => mention.text === left.text && isInside(mention, scope.body))) continue;
    const last = mentions.at(-1);
    const work = [...scope.class.methods.values()].find((method) => method !== scope && works(method, program));
    if (last === undefined || last === left || work === undefined || !isLoaded(left.text, one)) continue;
    yield {
      ...{ rule: 'checkpoint-kept', severity: 'warning', start: syntax.startIndex, end: syntax.endIndex },
      message: text(
        '{0} keeps the whole checkpoint as long as the object lives, on the device it was loaded to, and only the constructor reads it: a second copy of the weights. A local name would let go of it.',
        left.text,
      ),
      chain: [
        reason(last, text('This is its last use.')),
        reason(work.node.childForFieldName('name') ?? work.node, text('This computes beside it.')),
      ],
      fixes: asLocal(name, mentions, one),
    };
  }
}

function works(method: FunctionScope, program: Program): boolean {
  const other = program.functions.find((one) => one.scope === method);
  return other !== undefined && worksWithTensors(method.body, other, program);
}

/** Every place that reads or sets an attribute of this name, of whatever object. */
function mentionsOf(name: string, root: Node): Node[] {
  return [...descend(root)].filter(
    (node) => node.type === 'attribute' && node.childForFieldName('attribute')?.text === name,
  );
}

function asLocal(name: string, mentions: readonly Node[], { scope }: Interpreted): Fix[] {
  const isTaken = [...descend(scope.node)].some(
    (node) => node.type === 'identifier' && node.text === name && node.parent?.type !== 'attribute',
  );
  if (isTaken) return [];
  const edits = mentions.map(({ startIndex, endIndex }) => ({ start: startIndex, end: endIndex, newText: name }));
  return [{ title: text('Keep it under a local name: {0}', name), safe: false, edits }];
}

/** `load_state_dict(checkpoint[…])`: it is weights that are kept, not data or settings. */
function isLoaded(name: string, { scope }: Interpreted): boolean {
  const derived = new Set([name]);
  for (const node of descend(scope.body)) {
    const right = node.type === 'assignment' ? node.childForFieldName('right') : null;
    const left = node.childForFieldName('left');
    if (right && left?.type === 'identifier' && namesIn(right).some((one) => derived.has(one))) derived.add(left.text);
    if (node.type !== 'call' || !/load_state_dict$/.test(node.childForFieldName('function')?.text ?? '')) continue;
    if (namesIn(node).some((one) => derived.has(one))) return true;
  }
  return false;
}

/** Points that read a name for the last time. */
function lastUses(name: string, statement: Node, one: Interpreted): number[] {
  const liveness = livenessIn(one);
  const names = namesAt(one.graph);
  if (names.some(({ deletes }) => deletes.has(name))) return [];
  return one.graph.points.flatMap((point, id) => {
    const { reads } = names[id] ?? { reads: new Set() };
    if (!reads.has(name) || point.syntax.startIndex < statement.startIndex) return [];
    return liveness.liveAfter(id).has(name) ? [] : [id];
  });
}

function fixes(name: string, load: Node, last: Node, isOne: boolean, bound: Node, { source }: Program): Fix[] {
  const found: Fix[] = [];
  const isBeside = last.parent === bound.parent && last.type === 'expression_statement';
  const edit = isOne && isBeside ? addition(last, `del ${name}`, source) : null;
  if (edit !== null)
    found.push({ title: text('Let go of it after its last use: {0}', `del ${name}`), safe: true, edits: [edit] });
  const list = load.childForFieldName('arguments');
  if (list !== null && !/map_location/.test(list.text)) {
    const at = list.endIndex - 1;
    const comma = children(list).length > 0 ? ', ' : '';
    const onHost = { start: at, end: at, newText: `${comma}map_location="cpu"` };
    found.push({
      ...{ title: text('Load it to host memory: {0}', 'map_location="cpu"'), safe: false },
      edits: edit === null ? [onHost] : [onHost, edit],
    });
  }
  return found;
}
