import type { Node } from '../syntax/node';
import { callsOf, isOfLibrary } from '../scopes/gradMode';
import { classOf, dottedName, isClass, linkedTo, scopeAround } from '../scopes/module';
import type { FunctionScope, ModuleScope } from '../scopes/module';
import { children, descend } from '../syntax/parser';
import { assignmentOf, backPropagated, graphNamesIn, namesIn, statementAround } from '../syntax/statements';
import { flowGraph, type FlowGraph, type FlowPoint } from './graph';
import { capturedNames } from './names';

/** Names and dotted names whose value may flow somewhere, after each point and at the start of a function. */
interface Flowing {
  after: readonly ReadonlySet<string>[];
  start: ReadonlySet<string>;
}

/** Where values of a function may go: into a `backward()`, or out of it by `return` and `yield`. */
export interface Reach {
  backward: Flowing;
  result: Flowing;
  /** Names that inner functions mention: what those do with them is out of sight. */
  captured: ReadonlySet<string>;
  /** Names whose value at the start may be back-propagated, by the function or by an inner one. */
  taken: ReadonlySet<string>;
}

const isInner = (node: Node): boolean => /^(function_definition|lambda|class_definition)$/.test(node.type);

const graphs = new WeakMap<FunctionScope, FlowGraph>();

export function graphOf(scope: FunctionScope): FlowGraph {
  let graph = graphs.get(scope);
  if (graph === undefined) graphs.set(scope, (graph = flowGraph(scope.body)));
  return graph;
}

const reaching = new WeakMap<FunctionScope, Reach>();

/**
 * Follows values against the flow of control: what is assigned to a name that may reach a `backward()` may reach it, too.
 * Too many names make a rule silent, never wrong.
 */
export function reachOf(scope: FunctionScope, module: ModuleScope): Reach {
  const known = reaching.get(scope);
  if (known !== undefined) return known;
  const graph = graphOf(scope);
  // In a circle of calls every parameter may reach it.
  const all: Flowing = { after: [], start: new Set(scope.parameters) };
  const captured = capturedNames(scope.body);
  reaching.set(scope, { backward: all, result: all, captured, taken: all.start });
  const backward = follow(graph, (point) => backwardSeeds(point, module));
  const reach: Reach = {
    backward,
    result: follow(graph, resultSeeds),
    captured,
    taken: new Set([...backward.start, ...captured]),
  };
  reaching.set(scope, reach);
  return reach;
}

function follow(graph: FlowGraph, seeds: (point: FlowPoint) => string[]): Flowing {
  const after: Set<string>[] = graph.points.map(() => new Set<string>());
  const before: Set<string>[] = graph.points.map(() => new Set<string>());
  const seeded = graph.points.map(seeds);
  for (let changed = true; changed;) {
    changed = false;
    for (let id = graph.points.length - 1; id >= 0; id--) {
      const point = graph.points[id] as FlowPoint;
      const out = after[id] as Set<string>;
      for (const next of point.next) for (const name of before[next] as Set<string>) out.add(name);
      const into = step(point, out);
      for (const name of seeded[id] as string[]) into.add(name);
      const old = before[id] as Set<string>;
      if ([...into].every((name) => old.has(name))) continue;
      for (const name of into) old.add(name);
      changed = true;
    }
  }
  return { after, start: before[graph.entry] ?? new Set() };
}

/** Names before a point by the names after it. */
function step(point: FlowPoint, out: ReadonlySet<string>): Set<string> {
  const into = new Set(out);
  const { syntax } = point;
  if (syntax.type === 'for_statement') {
    const left = syntax.childForFieldName('left');
    const right = syntax.childForFieldName('right');
    if (left && right && namesIn(left).some((name) => out.has(name)))
      for (const name of graphNamesIn(right)) into.add(name);
    return into;
  }
  for (const own of point.own) {
    for (const node of descend(own, (inner) => !isInner(inner))) {
      if (node.type === 'call') addedNames(node, out, into);
      if (node.type === 'assignment' || node.type === 'augmented_assignment') assigned(node, out, into);
      if (node.type === 'named_expression') assigned(node, out, into);
    }
  }
  return into;
}

function assigned(assignment: Node, out: ReadonlySet<string>, into: Set<string>): void {
  const left = assignment.childForFieldName('left') ?? assignment.childForFieldName('name');
  const right = assignment.childForFieldName('right') ?? assignment.childForFieldName('value');
  if (!left || !right) return;
  if (!namesIn(left).some((name) => out.has(name))) return;
  // The name's old value goes nowhere any more; what a list or an attribute of it held still does.
  if (assignment.type === 'assignment' && left.type === 'identifier') into.delete(left.text);
  for (const name of graphNamesIn(right)) into.add(name);
}

const adding = /^(append|appendleft|extend|add|insert|put|push|update|setdefault|\w+_)$/;

/** `list.append(x)`: where the list may go, so may `x`. */
function addedNames(call: Node, out: ReadonlySet<string>, into: Set<string>): void {
  const target = call.childForFieldName('function');
  const object = target?.type === 'attribute' ? target.childForFieldName('object') : null;
  if (!object || !adding.test(target?.childForFieldName('attribute')?.text ?? '')) return;
  if (!namesIn(object).some((name) => out.has(name))) return;
  const list = call.childForFieldName('arguments');
  for (const name of list === null ? [] : graphNamesIn(list)) into.add(name);
}

function backwardSeeds(point: FlowPoint, module: ModuleScope): string[] {
  const seeds: string[] = [];
  for (const own of point.own) {
    for (const node of descend(own, (inner) => !isInner(inner))) {
      if (node.type === 'call') {
        seeds.push(...backPropagated(node));
        seeds.push(...handedOver(node, module));
      }
      // Stored in an attribute it is out of sight, unless this file never reads that again.
      if (node.type === 'assignment') {
        const left = node.childForFieldName('left');
        const right = node.childForFieldName('right');
        if (left?.type === 'attribute' && right) seeds.push(...(isReadAgain(left, module) ? graphNamesIn(right) : []));
      }
    }
  }
  return seeds;
}

function resultSeeds(point: FlowPoint): string[] {
  const seeds: string[] = [];
  for (const own of point.own) {
    if (own.type === 'return_statement') seeds.push(...graphNamesIn(own));
    else
      for (const node of descend(own, (inner) => !isInner(inner)))
        if (node.type === 'yield') seeds.push(...graphNamesIn(node));
  }
  return seeds;
}

/** Methods that only keep, show or count what they are given. */
const harmlessMethods =
  /^(append|appendleft|extend|insert|add|update|put|push|write|writelines|format|join|item|items|get|print|echo|step|set_postfix\w*|set_description\w*|(add|log|record|report|track)(_\w+)?|info|debug|warning|error|critical|\w*meter\w*|to|cpu|cuda|detach|size|view|reshape|float|sum|mean|eq|max|min|argmax|setdefault|pop|index|count|remove|backward_hook|train|eval|state_dict|load_state_dict|save|zero_grad|parameters|clip_grad_norm_|unscale_|gather|gather_for_metrics|reduce|decode|batch_decode|compute)$/;
/** Libraries that only compute with, show or record what they are given; other imports are code we do not see. */
const harmlessLibraries =
  /^(torch|numpy|math|statistics|copy|gc|sys|os|json|csv|time|random|logging|pprint|tqdm|matplotlib|pandas|wandb|mlflow|sklearn|scipy|PIL|cv2|torchvision|einops)\b/;
const builtins = new Set(
  (
    'print len sum max min abs float int str bool repr round format list tuple dict set sorted reversed enumerate zip ' +
    'map filter any all range isinstance type id hash iter next hasattr getattr setattr super'
  ).split(' '),
);

/** Names among a call's arguments that the call may back-propagate: functions we do not see may, ours when they do. */
function handedOver(call: Node, module: ModuleScope): string[] {
  const list = call.childForFieldName('arguments');
  const target = call.childForFieldName('function');
  if (list === null || target === null) return [];
  const owned = ownFunctions(target, module);
  if (owned.length > 0) return owned.flatMap((scope) => takenToBackward(call, scope, module));
  const imported = dottedName(target, module.imports);
  if (imported !== null) return harmlessLibraries.test(imported) || isLossLike(target.text) ? [] : graphNamesIn(list);
  const method = target.childForFieldName('attribute')?.text;
  if (method !== undefined) return harmlessMethods.test(method) || isLossLike(method) ? [] : graphNamesIn(list);
  // `Transition = namedtuple(…)`: making an object back-propagates nothing.
  const isRecord = /^[A-Z]/.test(target.text) || module.classes.has(target.text);
  return builtins.has(target.text) || isLossLike(target.text) || isRecord ? [] : graphNamesIn(list);
}

/** What only computes from its arguments, by its name. */
function isLossLike(name: string): boolean {
  return /(loss|criterion|crit|model|net|accuracy|metric|dice|iou|psnr|ssim|score|encoder|decoder|critic|actor|policy|evaluate|summary|plot|save|log\w*)$/i.test(
    name,
  );
}

/** Calls that back-propagate, as `ModuleScope.calls` names them. */
export const backwardNames = ['.backward', 'backward', '.manual_backward', '.grad', 'grad'];

/** Whether the file has a `backward()` at all, whatever it is called on. */
export function backPropagatesAnything({ calls }: ModuleScope): boolean {
  return backwardNames.some((name) => calls.has(name));
}

/** Functions of this file that a call may mean: by name, by method name, by class. */
export function ownFunctions(target: Node, module: ModuleScope): FunctionScope[] {
  const linked = linkedTo(target, module);
  if (linked !== undefined && !isClass(linked)) return [linked];
  const method = target.childForFieldName('attribute')?.text;
  if (method !== undefined && linked === undefined)
    return isOfLibrary(target, module) ? [] : (module.methods.get(method) ?? []);
  const owner = classOf(target, module);
  if (owner !== undefined) {
    const start = owner.methods.get('__init__');
    return start === undefined ? [] : [start];
  }
  return module.named.get(target.text) ?? [];
}

/** Names among a call's arguments that a function of this file takes to a `backward()`. */
export function takenToBackward(call: Node, scope: FunctionScope, module: ModuleScope): string[] {
  const start = reachOf(scope, module).taken;
  const list = call.childForFieldName('arguments');
  if (list === null || start.size === 0) return [];
  const shift = scope.class !== null && !scope.isStatic ? 1 : 0;
  return children(list).flatMap((argument, index) => {
    const isNamed = argument.type === 'keyword_argument';
    const parameter = isNamed ? argument.childForFieldName('name')?.text : scope.parameters[index + shift];
    const value = isNamed ? argument.childForFieldName('value') : argument;
    return parameter !== undefined && start.has(parameter) && value ? graphNamesIn(value) : [];
  });
}

/** What becomes of a name that a statement keeps something in: may a graph in it still be back-propagated? */
export function mayBeBackPropagated(name: string, statement: Node, scope: FunctionScope, module: ModuleScope): boolean {
  const graph = graphOf(scope);
  const point = graph.at.get(statement.id);
  const reach = reachOf(scope, module);
  const goes = (flowing: Flowing): boolean => {
    const after = point === undefined ? undefined : flowing.after[point];
    return after === undefined ? flowing.start.has(name) : after.has(name);
  };
  if (goes(reach.backward) || reach.captured.has(name)) return true;
  if (scope.around !== null && mayBeSentAround(name, scope.around, module)) return true;
  if (name.includes('.')) return attributeReachesBackward(name.slice(name.lastIndexOf('.') + 1), module);
  return goes(reach.result) && resultMayBeBackPropagated(scope, module);
}

/** Of a name that an inner function shares: where the function around may send it, at any point of it. */
function mayBeSentAround(name: string, around: FunctionScope, module: ModuleScope): boolean {
  const { backward, result } = reachOf(around, module);
  const goes = (flowing: Flowing): boolean => flowing.start.has(name) || flowing.after.some((names) => names.has(name));
  return goes(backward) || (goes(result) && resultMayBeBackPropagated(around, module));
}

const backwardAttributes = new WeakMap<ModuleScope, ReadonlySet<string>>();

/** Whoever has the object may back-propagate its attribute, in any function of the file. */
function attributeReachesBackward(attribute: string, module: ModuleScope): boolean {
  let attributes = backwardAttributes.get(module);
  if (attributes === undefined) backwardAttributes.set(module, (attributes = readBackwardAttributes(module)));
  return attributes.has(attribute);
}

function readBackwardAttributes(module: ModuleScope): Set<string> {
  const attributes = new Set<string>();
  const take = (names: Iterable<string>): void => {
    for (const name of names) if (name.includes('.')) attributes.add(name.slice(name.lastIndexOf('.') + 1));
  };
  for (const scope of module.scopes) {
    const { backward, result } = reachOf(scope, module);
    for (const names of [...backward.after, backward.start]) take(names);
    const reads = [...result.after, result.start].some((names) => [...names].some((name) => name.includes('.')));
    if (!reads || !resultMayBeBackPropagated(scope, module)) continue;
    const used = reachingItems(scope, module) ?? result;
    for (const names of [...used.after, used.start]) take(names);
  }
  return attributes;
}

/**
 * Of a function that answers a tuple which every caller takes apart: where values go into those items of it only that
 * may be back-propagated. Null for any other.
 */
function reachingItems(scope: FunctionScope, module: ModuleScope): Flowing | null {
  const calls = callsOf(scope, module);
  const returns = graphOf(scope).points.filter(({ syntax }) => syntax.type === 'return_statement');
  const answers = returns.flatMap(({ syntax }) => children(syntax).filter(({ type }) => tuples.test(type)));
  const [first] = answers;
  if (first === undefined || answers.length !== returns.length || calls.length === 0 || scope.isGenerator) return null;
  const size = children(first).length;
  if (answers.some((answer) => children(answer).length !== size)) return null;
  const isUsed = children(first).map((_, at) =>
    calls.some((call) => takenApart(call, size) === null || callReaches(call, module, new Set(), at)),
  );
  if (isUsed.every((used) => used)) return null;
  return follow(graphOf(scope), ({ syntax }) =>
    syntax.type !== 'return_statement'
      ? []
      : answers
          .filter((answer) => answer.parent?.id === syntax.id)
          .flatMap((answer) => children(answer).flatMap((item, at) => (isUsed[at] === true ? graphNamesIn(item) : []))),
  );
}

const tuples = /^(expression_list|tuple)$/;

/** The targets of `a, b = f(…)`; null where the answer is not taken apart into that many names. */
function takenApart(call: Node, size: number): Node[] | null {
  const assignment = assignmentOf(statementAround(call));
  const left = assignment?.childForFieldName('left');
  if (
    !left ||
    assignment?.childForFieldName('right')?.id !== call.id ||
    !/^(pattern_list|tuple_pattern)$/.test(left.type)
  )
    return null;
  const targets = children(left);
  return targets.length === size && targets.every(({ type }) => type === 'identifier') ? targets : null;
}

const evaluates =
  /(^|_)(eval|evaluate|evaluation|valid|validate|validation|test|infer|inference|predict|metrics?|benchmark)(_|$)/i;

/** Whether the function's result, as this file uses it, may reach a `backward()`. */
export function resultMayBeBackPropagated(
  scope: FunctionScope,
  module: ModuleScope,
  seen: Set<number> = new Set(),
): boolean {
  if (scope.name === 'forward' || scope.name === '__call__') return true;
  if (seen.has(scope.node.id)) return false;
  const calls = callsOf(scope, module);
  // Used elsewhere: what a function for evaluation answers is shown, not trained on.
  if (calls.length === 0) return !evaluates.test(scope.name) || scope.name.includes('train');
  seen.add(scope.node.id);
  return calls.some((call) => callReaches(call, module, seen));
}

/** Whether the result of a call, or one item of it, may reach a `backward()` where it is called. */
export function callReaches(call: Node, module: ModuleScope, seen: Set<number>, item?: number): boolean {
  const holder = scopeAround(call, module) ?? module.scopes[0];
  if (holder === undefined) return true;
  const statement = statementAround(call);
  const reach = reachOf(holder, module);
  const point = graphOf(holder).at.get(statement.id);
  const left = assignmentOf(statement)?.childForFieldName('left');
  if (left) {
    const target = item === undefined ? left : (children(left)[item] ?? left);
    const names = namesIn(target);
    const goes = (flowing: Flowing): boolean => {
      const after = point === undefined ? undefined : flowing.after[point];
      return names.some((name) => (after === undefined ? flowing.start.has(name) : after.has(name)));
    };
    if (goes(reach.backward)) return true;
    if (left.type === 'attribute' && isReadAgain(left, module)) return true;
    return goes(reach.result) && resultMayBeBackPropagated(holder, module, seen);
  }
  if (statement.type === 'return_statement') return resultMayBeBackPropagated(holder, module, seen);
  if (statement.type === 'for_statement') return true;
  // `f(…).backward()`, or an argument of a call that may be back-propagated.
  for (let at: Node | null = call.parent; at !== null && at !== statement.parent; at = at.parent) {
    if (at.type !== 'call') continue;
    if (backPropagated(at).length > 0 || handedOver(at, module).length > 0) return true;
    const list = at.childForFieldName('function')?.childForFieldName('object');
    const after = point === undefined ? undefined : reach.backward.after[point];
    if (list && after !== undefined && namesIn(list).some((name) => after.has(name))) return true;
  }
  return false;
}

function isReadAgain(attribute: Node, module: ModuleScope): boolean {
  return (module.attributeReads.get(attribute.childForFieldName('attribute')?.text ?? '') ?? 0) > 0;
}

export function returns(name: string, body: Node): boolean {
  for (const node of descend(body, (inner) => inner === body || !isInner(inner))) {
    if (node.type === 'return_statement' && namesIn(node).includes(name)) return true;
  }
  return false;
}
