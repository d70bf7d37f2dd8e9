import { ownFunctions } from '../flow/backward';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import type { Value } from '../values/value';
import type { Program } from './rule';

const known = new WeakMap<Node, boolean>();

/** Whether statements compute with tensors or modules, here or in the functions of this file that they call. */
export function worksWithTensors(block: Node, one: Interpreted, program: Program): boolean {
  let works = known.get(block);
  if (works === undefined) {
    // In a circle of calls it is the others that have to work.
    known.set(block, false);
    known.set(block, (works = readWork(block, one, program)));
  }
  return works;
}

function readWork(block: Node, one: Interpreted, program: Program): boolean {
  for (const { syntax, own } of one.graph.points) {
    if (syntax.startIndex < block.startIndex || syntax.endIndex > block.endIndex) continue;
    const environment = one.before.get(syntax.id);
    if (environment === undefined) continue;
    for (const part of own) {
      for (const node of descend(part)) {
        if (node.type === 'call' && isWork(node, environment, one, program)) return true;
      }
    }
  }
  return false;
}

function isWork(call: Node, environment: Environment, one: Interpreted, program: Program): boolean {
  const target = call.childForFieldName('function');
  if (target === null) return false;
  if (target.childForFieldName('attribute')?.text === 'backward') return true;
  // `model.to(device)` moves a model; the result of moving a tensor would be bound.
  if (call.parent?.type === 'expression_statement' && isMove(target)) return false;
  if (isTensor(one.evaluator.evaluate(call, environment)) || isModel(one.evaluator.evaluate(target, environment)))
    return true;
  return ownFunctions(target, program.module).some((scope) => {
    const other = program.functions.find((candidate) => candidate.scope === scope);
    return other !== undefined && worksWithTensors(scope.body, other, program);
  });
}

function isMove(target: Node): boolean {
  return /^(to|cuda|cpu)$/.test(target.childForFieldName('attribute')?.text ?? '');
}

function isModel(value: Value): boolean {
  return value.kind === 'module' ? !value.loss : value.kind === 'instance' && value.of.isModule;
}

function isTensor(value: Value): boolean {
  if (value.kind === 'tuple') return value.items.some(isTensor);
  return value.kind === 'tensor' && !value.host && (value.full || value.graph !== 'no');
}
