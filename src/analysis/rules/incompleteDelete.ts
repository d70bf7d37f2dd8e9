import { text, type Finding, type Fix } from '../finding';
import { linesBefore } from '../fixes/release';
import { namesAt } from '../flow/names';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import { models, union, type Sites } from '../values/sites';
import type { Value } from '../values/value';
import { reason } from './keptGraph';
import { holdersOf, isCertainlyBound, letGo, livenessIn, workAhead, type Dead } from './lifetimes';
import type { Program, Rule } from './rule';

/**
 * P17 `incomplete-delete`: `del model` while its optimizer, a wrapper or a result whose graph reaches its parameters is
 * still bound: nothing is freed.
 */
export const incompleteDelete: Rule = {
  slugs: ['incomplete-delete'],
  mentions: /\bdel\b|\bNone\b/,
  *find(one, program) {
    for (const [id, point] of one.graph.points.entries()) {
      const { syntax } = point;
      const deleted = letGo(syntax).filter((name) => !isFirstBinding(name, syntax, one));
      if (deleted.length === 0) continue;
      const before = one.before.get(syntax.id);
      const end = lastOfRun(syntax);
      const after = one.after.get(end.id);
      if (before === undefined || after === undefined) continue;
      const sites = deleted.reduce<Sites>((all, name) => union(all, modelSites(before.get(name))), []);
      if (sites.length === 0) continue;
      const holders = holdersOf(sites, after).filter(({ value }) => isHolder(value, sites));
      // A model that another name still means goes on being used.
      if (
        holders.length === 0 ||
        holders.some(({ name, value }) => isUsedOn(value) && livenessIn(one).liveAfter(id).has(name))
      )
        continue;
      const next = workAhead(id, one, program);
      if (next === null) continue;
      yield finding(holders, deleted, syntax, next, id, one, program);
    }
    yield* ofTheObject(one, program);
  },
};

/** `del self.model` while the object goes on holding an optimizer or a scheduler of it. */
function* ofTheObject(one: Interpreted, program: Program): Iterable<Finding> {
  const [self] = one.scope.parameters;
  const owner = one.scope.class;
  if (owner === null || self === undefined || one.scope.isStatic) return;
  for (const [id, { syntax }] of one.graph.points.entries()) {
    const before = one.before.get(syntax.id);
    if (syntax.type !== 'delete_statement' || before === undefined) continue;
    const gone = [...descend(syntax)].filter((node) => isAttributeOf(node, self));
    const sites = gone.reduce<Sites>((all, node) => union(all, modelSites(one.evaluator.evaluate(node, before))), []);
    if (sites.length === 0) continue;
    const released = [...descend(one.scope.body)].filter(
      (node) => node.startIndex > syntax.startIndex && isAttributeOf(node, self),
    );
    const ignored = new Set([...gone, ...released].map((node) => node.text));
    const names = new Set(
      [...descend(owner.node)].filter((node) => isAttributeOf(node, self)).map((node) => node.text),
    );
    const holders: Dead[] = [];
    let isElsewhere = false;
    for (const name of names) {
      if (ignored.has(name)) continue;
      const value = one.evaluator.knowledge.attribute(owner, name.slice(self.length + 1));
      if (!isHolder(value, sites)) continue;
      if (value.kind === 'holder') holders.push({ name, value });
      else isElsewhere = true;
    }
    const next = isElsewhere || holders.length === 0 ? null : workAhead(id, one, program);
    if (next === null) continue;
    const listed = gone.map((node) => node.text);
    const found = finding(holders, listed, syntax, next, id, one, program);
    yield {
      ...found,
      fixes: [
        {
          ...others(
            holders.map(({ name }) => name),
            syntax,
            program.source,
          ),
          safe: false,
        },
      ],
    };
  }
}

function isAttributeOf(node: Node, self: string): boolean {
  return node.type === 'attribute' && node.childForFieldName('object')?.text === self;
}

/** `del a` and `del b` right behind each other are one. */
function lastOfRun(statement: Node): Node {
  const block = statement.parent === null ? [] : children(statement.parent);
  let last = statement;
  for (const next of block.slice(block.indexOf(statement) + 1)) {
    if (letGo(next).length === 0) break;
    last = next;
  }
  return last;
}

/** `pool = None` before anything else binds the name in a round of a loop: a start, no release. */
function isFirstBinding(name: string, statement: Node, one: Interpreted): boolean {
  if (statement.type === 'delete_statement') return false;
  const names = namesAt(one.graph);
  return one.graph.points.every(
    ({ syntax }, id) => syntax.startIndex >= statement.startIndex || names[id]?.writes.has(name) !== true,
  );
}

/** Models, and collections of them, that a name in use means. */
function isUsedOn(value: Value): boolean {
  return isModel(value) || value.kind === 'container';
}

function isModel(value: Value): boolean {
  return value.kind === 'module' || (value.kind === 'instance' && value.of.isModule);
}

function modelSites(value: Value | undefined): Sites {
  return value !== undefined && isModel(value) ? models(value.holds) : [];
}

/** What surely keeps the model itself, not a part of it that it shares with others. */
function isHolder(value: Value, sites: Sites): boolean {
  if (value.kind === 'container') return isHolder(value.elements, sites);
  if (value.kind === 'tuple') return value.items.some((item) => isHolder(item, sites));
  if (value.kind === 'tensor' && value.graph !== 'yes') return false;
  if (value.kind === 'plain' || value.kind === 'function' || value.kind === 'unknown') return false;
  return models(value.holds).some((site) => sites.some((one) => one.id === site.id));
}

function finding(
  holders: readonly Dead[],
  deleted: readonly string[],
  statement: Node,
  next: Node,
  id: number,
  one: Interpreted,
  { source }: Program,
) {
  const liveness = livenessIn(one);
  const names = holders.map(({ name }) => name);
  const isDead = names.every((name) => !liveness.liveAfter(id).has(name) && !liveness.isCaptured(name));
  const isCertain =
    names.every((name) => isCertainlyBound(name, id, one)) &&
    !one.scope.parameters.some((name) => names.includes(name));
  return {
    ...{ rule: 'incomplete-delete', severity: 'warning' as const },
    ...{ start: statement.startIndex, end: statement.endIndex },
    message: text(
      'This frees nothing: the parameters of {1} are still held by {0}.',
      names.join(', '),
      deleted.join(', '),
    ),
    chain: [reason(next, text('This computes next, beside what was to be freed.'))],
    fixes: isDead && isCertain ? [others(names, statement, source)] : [],
  };
}

/** `, optimizer, loss` behind the `del`; a `del` of its own behind `model = None`. */
function others(names: readonly string[], statement: Node, source: string): Fix {
  const listed = names.join(', ');
  const end = children(statement).at(-1)?.endIndex ?? statement.endIndex;
  const edit =
    statement.type === 'delete_statement'
      ? { start: end, end, newText: `, ${listed}` }
      : linesBefore(statement, [`del ${listed}`], source);
  return { title: text('Let go of the others as well: {0}', listed), safe: true, edits: [edit] };
}
