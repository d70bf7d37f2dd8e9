import { ownFunctions } from '../flow/backward';
import type { Node } from '../syntax/node';
import { descend } from '../syntax/parser';
import type { Interpreted } from '../values/interpret';
import type { Value } from '../values/value';
import type { Program } from './rule';

/** Calls are followed this far. */
const mostCalls = 3;

const isInner = (node: Node): boolean => /^(function_definition|lambda|class_definition)$/.test(node.type);

/** Whether statements compute with tensors or modules, here or in the functions of this file that they call. */
export function worksWithTensors(block: Node, one: Interpreted, program: Program, calls = mostCalls): boolean {
  for (const statement of descend(block, (node) => node === block || !isInner(node))) {
    const environment = one.before.get(statement.id);
    if (environment === undefined) continue;
    for (const node of descend(statement, (inner) => inner === statement || !isInner(inner))) {
      if (node.type !== 'call') continue;
      const target = node.childForFieldName('function');
      if (target?.childForFieldName('attribute')?.text === 'backward') return true;
      if (isTensor(one.evaluator.evaluate(node, environment))) return true;
      if (target === null || calls === 0) continue;
      for (const scope of ownFunctions(target, program.module)) {
        const other = program.functions.find((candidate) => candidate.scope === scope);
        if (other !== undefined && worksWithTensors(scope.body, other, program, calls - 1)) return true;
      }
    }
  }
  return false;
}

function isTensor(value: Value): boolean {
  if (value.kind === 'tuple') return value.items.some(isTensor);
  return value.kind === 'tensor' && !value.host && (value.full || value.graph !== 'no');
}
