import { loopsAround } from '../flow/loops';
import { isInside, runsIn } from '../flow/within';
import { ownFunctions } from '../flow/backward';
import { trainsWithin } from '../flow/training';
import { scopeAround, type FunctionScope, type ModuleScope } from '../scopes/module';
import { callsOf } from '../scopes/gradMode';
import { calledName, isInner, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import type { Program } from './rule';

/** What a hook keeps something in. */
export interface HookKeeper {
  /** `self.outputs`, `features`. */
  stem: Node;
  /** Where the collection is made, as far as that is known. */
  made: Node | null;
}

/**
 * Whether what a hook keeps grows: a loop of this file runs forward passes round after round with one and the same
 * collection, which nothing empties.
 */
export function hookGrows({ stem, made }: HookKeeper, { scope }: Interpreted, program: Program): boolean {
  const { module } = program;
  if (made === null || isEmptiedAnywhere(stem, made, module)) return false;
  const maker = scopeAround(made, module);
  const loops = forwardLoops(program).filter(
    ({ loop }) => !isInside(made, loop) && (maker === null || !runsIn(maker, loop, module)) && !removesHooks(loop),
  );
  if (maker !== null && !isMadeOnce(maker, module)) return false;
  const isOwn = stem.type === 'attribute' || maker === null || !isLocalOnly(maker, stem.text, module);
  return loops.some(({ loop, trains }) => {
    if (!isOwn && (maker === null || !isInside(loop, maker.node))) return false;
    // Gathered in one pass without training, and joined at its end: that is what it is for.
    return trains || !isJoined(stem, scope, module);
  });
}

interface ForwardLoop {
  loop: Node;
  trains: boolean;
}

const known = new WeakMap<Program, ForwardLoop[]>();

/** Loops that run a model in every round. */
export function forwardLoops(program: Program): readonly ForwardLoop[] {
  let loops = known.get(program);
  if (loops === undefined) known.set(program, (loops = [...readForwardLoops(program)]));
  return loops;
}

const overLayers =
  /\b(named_)?(modules|children|parameters)\(|layers\b|blocks\b|handles\b|hooks\b|^\[|^\(|^range\(\d\)$/;

function* readForwardLoops(program: Program): Iterable<ForwardLoop> {
  for (const one of program.functions) {
    for (const { syntax } of one.graph.points) {
      if (syntax.type !== 'for_statement' && syntax.type !== 'while_statement') continue;
      if (overLayers.test(syntax.childForFieldName('right')?.text ?? '')) continue;
      const trains = trainsWithin(syntax, program.module);
      if (trains || runsModel(syntax, one, program)) yield { loop: syntax, trains };
    }
  }
}

/** A call of a module in a node, or in a function of this file that is called there. */
export function runsModel(
  inside: Node,
  one: Interpreted,
  program: Program,
  seen: Set<FunctionScope> = new Set(),
): boolean {
  for (const point of one.graph.points) {
    if (!isInside(point.syntax, inside)) continue;
    const environment = one.before.get(point.syntax.id);
    if (environment === undefined) continue;
    for (const node of point.own.flatMap((own) => [...descend(own, (inner) => !isInner(inner))])) {
      const target = node.type === 'call' ? node.childForFieldName('function') : null;
      if (target === null) continue;
      const called = one.evaluator.evaluate(target, environment);
      if ((called.kind === 'module' && !called.loss) || (called.kind === 'instance' && called.of.isModule)) return true;
      for (const scope of ownFunctions(target, program.module)) {
        const further = seen.has(scope) ? undefined : program.functions.find((other) => other.scope === scope);
        seen.add(scope);
        if (further !== undefined && runsModel(scope.body, further, program, seen)) return true;
      }
    }
  }
  return false;
}

function removesHooks(loop: Node): boolean {
  for (const node of descend(loop)) {
    if (node.type === 'call' && calledName(node) === 'remove' && positional(node).length === 0) return true;
  }
  return false;
}

/** Whether the file says when a function runs: it is called here; the constructor where its class is. */
function isMadeOnce(maker: FunctionScope, module: ModuleScope): boolean {
  if (maker.name === 'forward' || maker.name === '__call__') return false;
  if (maker.name === '__init__') return module.calls.has(maker.class?.name ?? '');
  return callsOf(maker, module).length > 0;
}

/** A list of its function alone, whose hooks that function takes away again. */
function isLocalOnly(maker: FunctionScope, name: string, module: ModuleScope): boolean {
  for (const node of descend(maker.body)) {
    if (node.type !== 'return_statement' && node.type !== 'yield') continue;
    if (scopeAround(node, module) !== maker) continue;
    for (const inner of descend(node))
      if (inner.type === 'identifier' && inner.text === name) return removesHooks(maker.body);
  }
  return removesHooks(maker.body);
}

const emptying = /^(clear|pop|popitem|popleft)$/;

/**
 * Whether anything in the file empties the collection, or binds it anew: under its attribute's name, its own name, or a
 * name that the answer of the function it is made in is given. Methods that nobody calls empty nothing.
 */
function isEmptiedAnywhere(stem: Node, made: Node, module: ModuleScope): boolean {
  const attribute = stem.childForFieldName('attribute')?.text ?? null;
  const names = new Set([stem.text, ...(attribute === null ? namesOfAnswer(made, module) : [])]);
  const isKeeper = (node: Node | null): boolean => {
    let at = node;
    while (at?.type === 'subscript') at = at.childForFieldName('value');
    if (attribute !== null) return at?.type === 'attribute' && at.childForFieldName('attribute')?.text === attribute;
    return at?.type === 'identifier' && names.has(at.text);
  };
  for (const node of descend(module.root)) {
    if (!empties(node, isKeeper, made)) continue;
    const scope = scopeAround(node, module);
    if (scope === null || mayBeCalled(scope, module)) return true;
  }
  return false;
}

const byFramework = /^(__|on_|forward$|step$|\w+_step$)/;

/** A method that this file mentions nowhere, and no framework calls, is not called. */
function mayBeCalled(scope: FunctionScope, module: ModuleScope): boolean {
  if (scope.class === null || byFramework.test(scope.name)) return true;
  const isOutside = (node: Node): boolean => !isInside(node, scope.node);
  const own = [...descend(scope.body)].filter(
    (node) => node.type === 'attribute' && node.text.endsWith(`.${scope.name}`),
  );
  return callsOf(scope, module).some(isOutside) || (module.attributeReads.get(scope.name) ?? 0) > own.length;
}

function empties(node: Node, isKeeper: (node: Node | null) => boolean, made: Node): boolean {
  switch (node.type) {
    case 'call': {
      const target = node.childForFieldName('function');
      return (
        emptying.test(target?.childForFieldName('attribute')?.text ?? '') &&
        isKeeper(target?.childForFieldName('object') ?? null)
      );
    }
    case 'delete_statement':
      return [...descend(node)].some(isKeeper);
    case 'assignment': {
      const left = node.childForFieldName('left');
      const right = node.childForFieldName('right');
      if (left === null || right === null) return false;
      // `outputs, self.outputs = self.outputs, []`
      if (left.type.endsWith('pattern') || left.type === 'pattern_list') {
        const values = children(right);
        const isFreshAt = (index: number): boolean => /^(\[\]|\{\}|None)$/.test(values[index]?.text ?? '');
        return !isInside(made, right) && children(left).some((part, index) => isKeeper(part) && isFreshAt(index));
      }
      if (!isKeeper(left) || isInside(made, right)) return false;
      // `features[name] = []` in the loop over the layers is how it begins; `store["a"] = x` empties nothing.
      const isFresh =
        /^(\[\]|\{\}|None|list\(\)|dict\(\))$/.test(right.text) ||
        /^(list|dictionary|list_comprehension|dictionary_comprehension)$/.test(right.type);
      if (!isFresh) return left.type !== 'subscript';
      return (
        left.type !== 'subscript' ||
        !loopsAround(node).some((loop) => overLayers.test(loop.childForFieldName('right')?.text ?? ''))
      );
    }
    default:
      return false;
  }
}

/** Names that calls of the function around are bound to. */
function namesOfAnswer(made: Node, module: ModuleScope): string[] {
  const maker = scopeAround(made, module);
  if (maker === null) return [];
  return callsOf(maker, module).flatMap((call) => {
    const assignment = call.parent?.type === 'assignment' ? call.parent : null;
    const left = assignment?.childForFieldName('left');
    return left ? [...descend(left)].filter((node) => node.type === 'identifier').map((node) => node.text) : [];
  });
}

/** `torch.cat(features)` and the like of the collection, under its own name or that of the function's answer. */
function isJoined(stem: Node, scope: FunctionScope, module: ModuleScope): boolean {
  const last = stem.childForFieldName('attribute')?.text ?? stem.text;
  for (const name of ['.cat', '.stack', '.vstack', '.hstack', '.concat']) {
    for (const call of module.calls.get(name) ?? []) {
      const [first] = children(call.childForFieldName('arguments') ?? call);
      if (first !== undefined && !isInside(call, scope.node) && new RegExp(`\\b${last}\\b`).test(first.text))
        return true;
    }
  }
  return false;
}
