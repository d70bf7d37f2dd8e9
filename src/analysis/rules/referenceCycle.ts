import { text, type Finding } from '../finding';
import { loopPaths } from '../flow/within';
import { scopeAround, type ClassScope, type FunctionScope, type ModuleScope } from '../scopes/module';
import { calledName, callsWithin, positional } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { element, type Value } from '../values/value';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';

/**
 * P40 `reference-cycle`: an object with tensors is made anew in every round of a loop and refers to itself, through what it
 * holds or through a function it keeps: only the cyclic collector frees it, which counts objects and not gigabytes.
 */
export const referenceCycle: Rule = {
  slugs: ['reference-cycle'],
  *find(one, program) {
    const { scope } = one;
    const owner = scope.class;
    const self = scope.parameters[0];
    if (owner === null || scope.isStatic || self === undefined) return;
    for (const { syntax } of one.graph.points) {
      const way = wayBack(syntax, self, owner, scope, program);
      if (way === null) continue;
      const made = remadeIn(way.holder, program);
      if (made === null || !hasTensors(way.holder, one, program)) continue;
      yield finding(syntax, way, made);
      return;
    }
  },
};

interface WayBack {
  /** The class whose objects refer to themselves. */
  holder: ClassScope;
  /** What refers back: `self.head.parent`. */
  through: Node;
  /** The reference itself. */
  back: Node;
}

function wayBack(
  statement: Node,
  self: string,
  owner: ClassScope,
  scope: FunctionScope,
  program: Program,
): WayBack | null {
  const hook = hookOnItself(statement, self, owner);
  if (hook !== null) return { holder: owner, ...hook };
  const assignment = statement.type === 'expression_statement' ? assignmentOf(statement) : null;
  const left = assignment?.type === 'assignment' ? assignment.childForFieldName('left') : null;
  const right = assignment?.childForFieldName('right');
  const object = left?.type === 'attribute' ? left.childForFieldName('object') : null;
  if (!left || !right || !object) return null;
  // `self.head.parent = self`, `head.parent = self` where the object holds the head.
  if (right.text === self && object.text !== self)
    return isHeld(object, self, scope) ? { holder: owner, through: left, back: right } : null;
  if (object.text !== self) return null;
  // `self.score = lambda x: self.net(x)`, `self.score = self._score`
  const isBound = right.type === 'attribute' && right.childForFieldName('object')?.text === self;
  const method = isBound ? owner.methods.get(right.childForFieldName('attribute')?.text ?? '') : undefined;
  const bindsSelf =
    right.type === 'lambda'
      ? mentionsSelf(right, self)
      : method !== undefined && !method.isStatic && !method.isProperty;
  if (bindsSelf) return { holder: owner, through: left, back: right };
  // `self.trainer = trainer` of a class that the trainer makes for itself: `self.callback = Callback(self)`
  const maker =
    right.type === 'identifier' && scope.name === '__init__' ? makerOf(owner, right.text, scope, program) : null;
  return maker === null ? null : { holder: maker, through: left, back: right };
}

/** `self.layer.register_forward_hook(self.keep)` that is never removed. */
function hookOnItself(statement: Node, self: string, owner: ClassScope): { through: Node; back: Node } | null {
  const inner = statement.type === 'expression_statement' ? children(statement)[0] : undefined;
  const call = inner?.type === 'assignment' ? inner.childForFieldName('right') : inner;
  const target = call?.type === 'call' ? call.childForFieldName('function') : null;
  const layer = target?.childForFieldName('object');
  const [hook] = call?.type === 'call' ? positional(call) : [];
  if (!call || !layer || hook === undefined || !/^register_\w*hook$/.test(calledName(call))) return null;
  if (!owner.isModule || !layer.text.startsWith(`${self}.`) || /\.remove\(\)/.test(owner.node.text)) return null;
  const bound = hook.type === 'attribute' && hook.childForFieldName('object')?.text === self;
  return bound || (hook.type === 'lambda' && mentionsSelf(hook, self)) ? { through: layer, back: hook } : null;
}

/** The object keeps what `object` names: an attribute of its own, or a name that one of them is bound to here. */
function isHeld(object: Node, self: string, scope: FunctionScope): boolean {
  if (object.text.startsWith(`${self}.`)) return object.type === 'attribute' || object.type === 'subscript';
  if (object.type !== 'identifier') return false;
  const isOwn = (node: Node | null | undefined): boolean => node?.text.startsWith(`${self}.`) === true;
  for (const node of descend(scope.body)) {
    const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
    if (node.type === 'assignment' && isOwn(left) && left?.type === 'attribute' && right?.text === object.text)
      return true;
    if (node.type === 'assignment' && left?.text === object.text && isOwn(right) && right?.type !== 'call') return true;
    if (node.type === 'for_statement' && left?.text === object.text && isOwn(right)) return true;
  }
  return false;
}

function mentionsSelf(lambda: Node, self: string): boolean {
  const parameters = lambda.childForFieldName('parameters');
  if (parameters !== null && [...descend(parameters)].some((node) => node.text === self)) return false;
  const body = lambda.childForFieldName('body');
  return body !== null && [...descend(body)].some((node) => node.type === 'identifier' && node.text === self);
}

/** The class that keeps an object of `owner` in an attribute and gives it itself for that parameter. */
function makerOf(owner: ClassScope, parameter: string, start: FunctionScope, { module }: Program): ClassScope | null {
  const index = start.parameters.indexOf(parameter) - 1;
  for (const call of index < 0 ? [] : (module.calls.get(owner.name) ?? [])) {
    const argument = children(call.childForFieldName('arguments') ?? call)[index];
    const left = call.parent?.type === 'assignment' ? call.parent.childForFieldName('left') : null;
    if (left?.type !== 'attribute' || argument?.type !== 'identifier') continue;
    for (const other of module.classes.values()) {
      const isInside = other.node.startIndex <= call.startIndex && call.endIndex <= other.node.endIndex;
      if (isInside && argument.text === 'self' && left.childForFieldName('object')?.text === 'self') return other;
    }
  }
  return null;
}

/** Weights, or tensors, in an attribute. */
function hasTensors(owner: ClassScope, { evaluator }: Interpreted, { module }: Program): boolean {
  if (owner.isModule) return true;
  return [...module.attributeOwners].some(
    ([attribute, owners]) => owners.has(owner.name) && isBig(evaluator.knowledge.attribute(owner, attribute)),
  );
}

function isBig(value: Value): boolean {
  switch (value.kind) {
    case 'module':
      return !value.loss;
    case 'instance':
      return value.of.isModule;
    case 'tensor':
      return value.full && !value.host;
    case 'container':
    case 'tuple':
      return isBig(element(value));
    default:
      return value.holds.some((one) => one.made === 'model');
  }
}

interface Remade {
  call: Node;
  loop: Node;
}

/** A call that makes objects of the class in a loop, each in place of the last, where nothing collects cycles. */
function remadeIn(owner: ClassScope, { module }: Program): Remade | null {
  for (const call of module.calls.get(owner.name) ?? []) {
    const isKept = call.parent?.type === 'argument_list' || call.parent?.type.includes('comprehension');
    if (isKept) continue;
    for (const loops of loopPaths(call, module)) {
      const loop = loops.find((one) => dropsEachRound(one, module));
      if (loop !== undefined && !loops.some(collects)) return { call, loop };
    }
  }
  return null;
}

/** A loop over trials or steps: not one that builds the layers of a model, or gathers what it makes. */
function dropsEachRound(loop: Node, module: ModuleScope): boolean {
  const over = loop.childForFieldName('right')?.text ?? '';
  if (/^[[({]|modules|children|layers|blocks|depth/.test(over)) return false;
  const scope = scopeAround(loop, module);
  if (scope !== null && (scope.class?.isModule === true || scope.name === '__init__')) return false;
  const made = new Set<string>();
  for (const node of descend(loop)) {
    const isMade = node.type === 'assignment' && node.childForFieldName('right')?.type === 'call';
    if (isMade) made.add(node.childForFieldName('left')?.text ?? '');
  }
  return ![...callsWithin(loop)].some(
    (call) =>
      /^(append|extend|add|insert|add_module|setdefault)$/.test(calledName(call)) &&
      positional(call).some((one) => one.type === 'call' || made.has(one.text)),
  );
}

function collects(loop: Node): boolean {
  return [...callsWithin(loop)].some((call) => calledName(call) === 'collect');
}

function finding(statement: Node, { holder, through, back }: WayBack, { call, loop }: Remade): Finding {
  return {
    ...{ rule: 'reference-cycle', severity: 'warning', start: statement.startIndex, end: statement.endIndex },
    message: text(
      'Each {0} refers to itself through {1}: when it is dropped, its tensors stay on the GPU until the cyclic collector happens to run, beside those of the next one. A weak reference, or breaking the cycle at its end, frees them at once; one gc.collect() per round does, too.',
      ...[holder.name, through.text],
    ),
    chain: [
      reason(back, text('This leads back to the {0} that holds it.', holder.name)),
      reason(call, text('A new {0} is made here.', holder.name)),
      reason(loop, text('Every round of this loop drops one and makes the next.')),
    ],
    fixes: [],
  };
}
