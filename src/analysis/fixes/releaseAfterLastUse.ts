import { text, type Fix, type Text } from '../finding';
import { lastStatementOf, statementAfter } from '../flow/commonBlock';
import { exitOf, type Exit } from '../flow/exits';
import { isCalledAgain, loopsAround } from '../flow/loops';
import { namesAt } from '../flow/names';
import { isInside } from '../flow/within';
import { frees, stepAround } from '../rules/freeEveryIteration';
import { deadAfter, isCertainlyBound, letGo } from '../rules/lifetimes';
import { cellsOf } from '../rules/notebookGlobal';
import type { Program } from '../rules/rule';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import type { Value } from '../values/value';
import { holdersOfSame, isModel, type Holders } from './holders';
import { importedCall, importsAdded, type ImportedCall } from './importedCall';
import { lettingGo } from './release';
import { isDeclaredOutside, isReadInside, readsByText } from './otherReaders';
import { additions } from './statementLines';

/** The refactoring for one name, or why it cannot be made. */
export interface Release {
  name: string;
  result: Fix | Text;
}

/**
 * "Release GPU memory after last use": `del` of the name at an offset and of whatever holds the same object, behind the
 * last use on every path, with the collector and the cache where they do something. Null where the offset is at no name
 * that may hold memory of a GPU. What has to hold for a `del` is section 0.2 of RULES.md.
 */
export function releaseAfterLastUse(program: Program, offset: number): Release | null {
  const name = nameAt(program.module.root, offset);
  const one = name === null ? undefined : scopeOf(name, program);
  // The object that a method is called on is nothing to let go of there.
  if (name === null || one === undefined || isSelf(name.text, one)) return null;
  const result = releaseOf(name, one, program);
  return result === null ? null : { name: name.text, result };
}

/** The plain name at an offset: no attribute, keyword or name of a definition. */
function nameAt(root: Node, offset: number): Node | null {
  let found: Node | null = null;
  for (const node of descend(root, ({ startIndex, endIndex }) => startIndex <= offset && offset <= endIndex)) {
    // Between two names the one that begins there.
    if (node.type === 'identifier' && node.startIndex <= offset && offset <= node.endIndex) found = node;
  }
  const parent = found?.parent;
  if (found === null || !parent) return null;
  const isOther =
    (parent.type === 'attribute' && parent.childForFieldName('attribute') === found) ||
    (parent.type === 'keyword_argument' && parent.childForFieldName('name') === found) ||
    /^(dotted_name|aliased_import|function_definition|class_definition)$/.test(parent.type);
  return isOther ? null : found;
}

/** The innermost function around a name that binds it. */
function scopeOf(name: Node, { functions }: Program): Interpreted | undefined {
  return functions
    .filter(({ scope }) => isInside(name, scope.node) && scope.node.type !== 'lambda')
    .sort((a, b) => b.scope.node.startIndex - a.scope.node.startIndex)
    .find(({ graph, scope }) => {
      if (scope.parameters.includes(name.text)) return true;
      return namesAt(graph).some(({ writes }) => writes.has(name.text));
    });
}

function isSelf(name: string, { scope }: Interpreted): boolean {
  return scope.class !== null && !scope.isStatic && scope.parameters[0] === name;
}

function releaseOf(name: Node, one: Interpreted, program: Program): Fix | Text | null {
  const found = lastUseOfAll(name.text, one);
  if (found === null || 'text' in found) return found;
  const { statement, exit, holders } = found;
  const { names, value } = holders;
  const why =
    whyKept(names, holders, one, program) ?? whyNothingToGain(name.text, value, exit, statement, one, program);
  if (why !== null) return why;
  const next = statementAfter(statement);
  const at = next === null ? undefined : one.graph.at.get(next.id);
  const isCertain = (held: string): boolean =>
    exit.bound.has(held) || (at !== undefined && isCertainlyBound(held, at, one));
  const calls = freeingCalls(names, value, statement, one, program);
  // The cache cannot give back what other tensors keep that nothing uses any more.
  const gone = calls.length === 0 ? names : [...names, ...othersLeft(names, statement, one)];
  const edit = additions(statement, [...lettingGo(gone, isCertain), ...calls.map(({ call }) => call)], program.source);
  if (edit === null) return text('The last use of {0} shares its line with other statements.', name.text);
  const missing = [...new Set(calls.flatMap((call) => call.missing ?? []))];
  return {
    title: text('Release GPU memory after last use of {0}', name.text),
    safe: true,
    edits: [...importsAdded(missing, program), edit],
  };
}

interface LastUse {
  statement: Node;
  exit: Exit;
  holders: Holders;
}

/** The statement with the last use of a name and of everything that holds the same object; a text says why none is. */
function lastUseOfAll(name: string, one: Interpreted): LastUse | Text | null {
  let names: readonly string[] = [name];
  for (;;) {
    const statement = lastStatementOf(pointsOf(names, one));
    if (statement === null) return null;
    const before = valueBefore(name, one);
    if (letGo(statement).includes(name) && before !== null)
      return text('{0} is let go of already, in line {1}.', name, String(lineOf(statement)));
    const exit = exitOf(statement, one);
    if (exit === null)
      return before === null ? null : text('Nothing runs after the last use of {0}: the function ends with it.', name);
    const holders = holdersOfSame(name, exit.environment, one);
    if (holders === null || 'text' in holders) return holders;
    const more = holders.names.filter((other) => !names.includes(other));
    if (more.length === 0) return { statement, exit, holders };
    names = [...names, ...more];
  }
}

/** What a name is known to be anywhere; null where it is nothing that could hold GPU memory. */
function valueBefore(name: string, one: Interpreted): Value | null {
  for (const environment of one.after.values()) {
    const value = environment.get(name);
    if (value !== undefined && !/^(plain|unknown|function)$/.test(value.kind)) return value;
  }
  return null;
}

function pointsOf(names: readonly string[], { graph }: Interpreted): Node[] {
  const used = namesAt(graph);
  return graph.points.flatMap(({ syntax }, id) => {
    const at = used[id];
    const isUsed = names.some((name) => at?.reads.has(name) || at?.writes.has(name) || at?.deletes.has(name));
    return isUsed ? [syntax] : [];
  });
}

function lineOf(node: Node): number {
  let root = node;
  while (root.parent !== null) root = root.parent;
  return root.text.slice(0, node.startIndex - root.startIndex).split('\n').length;
}

/** Why something keeps the object whatever is deleted here. */
function whyKept(names: readonly string[], holders: Holders, one: Interpreted, program: Program): Text | null {
  const { scope } = one;
  const [elsewhere] = holders.elsewhere;
  if (elsewhere !== undefined) return text('{0} holds the same object.', elsewhere);
  for (const name of names) {
    if (scope.parameters.includes(name))
      return text('{0} is a parameter: the caller holds the same object until the call returns.', name);
    if (isReadInside(name, one, program)) return text('An inner function uses {0}, and may run at any time.', name);
    if (isDeclaredOutside(name, scope))
      return text('{0} is a name of the scope around, which may use it at any time.', name);
    if (readsByText(one))
      return text(
        'Names are looked up by their text here (locals(), eval and the like), {0} perhaps among them.',
        name,
      );
  }
  const cells = scope.body.type === 'module' ? cellsOf(program) : [];
  const uses = pointsOf(names, one);
  const own = cells.filter((cell) => uses.some((use) => cell.start <= use.startIndex && use.endIndex <= cell.end));
  if (own.length > 1) return text('Several cells use {0}, and cells may run again in any order.', names.join(', '));
  return null;
}

/** Why a release there would change nothing. */
function whyNothingToGain(
  name: string,
  value: Value,
  exit: Exit,
  statement: Node,
  one: Interpreted,
  { cells }: Program,
): Text | null {
  if (value.kind === 'tensor' && value.scalar && (value.graph === 'no' || value.freed === 'yes'))
    return text('{0} is a single number: there is nothing to free.', name);
  if (value.kind === 'tensor' && value.own?.made === 'model')
    return text('{0} is a parameter of a model, and lives as long as that.', name);
  const isHost = (value.kind === 'tensor' || value.kind === 'holder') && value.host;
  if (isHost) return text('{0} is in host memory, not on a GPU.', name);
  if (exit.live.has(name)) return text('The next round of the loop uses {0} again.', name);
  const isTop = one.scope.body.type === 'module';
  // A notebook's kernel lives on.
  if ((isTop && cells.length > 0) || computesBehind(exit, statement, one)) return null;
  return isTop
    ? text('Nothing runs after the last use of {0}: the program ends with it.', name)
    : text('Nothing runs after the last use of {0}: the function ends with it.', name);
}

/** Whether anything runs behind an exit but a `return` of what is there. */
function computesBehind(exit: Exit, statement: Node, { graph }: Interpreted): boolean {
  const seen = new Set<number>();
  const left = [...exit.next];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const point = graph.points[id];
    if (point === undefined || seen.has(id)) continue;
    seen.add(id);
    left.push(...point.next);
    const isSame = point.syntax === statement || isInside(point.syntax, statement);
    const isQuiet = /^(pass|return)_statement$/.test(point.syntax.type) && !calls(point.syntax);
    if (isSame || !isQuiet) return true;
  }
  return false;
}

function calls(node: Node): boolean {
  for (const inner of descend(node)) if (inner.type === 'call' || inner.type === 'await') return true;
  return false;
}

/** Other tensors that nothing uses any more. */
function othersLeft(names: readonly string[], statement: Node, one: Interpreted): string[] {
  const point = one.graph.at.get(statement.id);
  const dead = point === undefined ? [] : deadAfter(point, one);
  return dead.flatMap(({ name }) => (names.includes(name) ? [] : [name]));
}

/**
 * The collector for models, which are in circles; the cache unless the place is passed again and again: there it costs
 * more than it gives, and unless one tensor among several is released. Not what follows there already.
 */
function freeingCalls(
  names: readonly string[],
  value: Value,
  statement: Node,
  one: Interpreted,
  program: Program,
): ImportedCall[] {
  const isWhole = isModel(value) || value.kind === 'holder';
  const isRepeated =
    loopsAround(statement).length > 0 || isCalledAgain(one.scope, program.module, (scope) => program.isHook(scope));
  if (
    stepAround(statement, one, program) !== null ||
    (!isWhole && (isRepeated || othersLeft(names, statement, one).length > 0))
  )
    return [];
  const wanted =
    isModel(value) || isOptimizer(value) ? ['gc.collect', 'torch.cuda.empty_cache'] : ['torch.cuda.empty_cache'];
  const there: string[] = [];
  for (let next = statementAfter(statement); next !== null; next = statementAfter(next)) {
    const call = next.type === 'expression_statement' ? children(next)[0] : undefined;
    if (call === undefined || !frees(call, program.module)) break;
    there.push(call.text);
  }
  return wanted.map((dotted) => importedCall(dotted, statement, program)).filter(({ call }) => !there.includes(call));
}

const isOptimizer = (value: Value): boolean => value.kind === 'holder' && value.role === 'optimizer';
