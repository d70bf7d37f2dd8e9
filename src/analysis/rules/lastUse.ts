import { backwardIn, backwardCallIn } from '../flow/training';
import { ownFunctions } from '../flow/backward';
import { livenessOf } from '../flow/liveness';
import { loopsAround } from '../flow/loops';
import { namesAt } from '../flow/names';
import { descend } from '../syntax/parser';
import type { Node } from '../syntax/node';
import type { Interpreted } from '../values/interpret';
import type { Program } from './rule';
import { worksWithTensors } from './tensorWork';

/**
 * The simple statement with the last use of a name that a statement binds: as often as that one runs, and the name stays
 * bound behind it. Null where inner functions know the name, or where it is given to something or let go of.
 */
export function lastUseOf(name: string, bound: Node, one: Interpreted): Node | null {
  const { graph, scope } = one;
  const liveness = livenessOf(graph, scope.body, scope.parameters);
  if (liveness.isCaptured(name) || scope.parameters.includes(name)) return null;
  const names = namesAt(graph);
  const points = graph.points.map(({ syntax }, id) => ({ syntax, id, at: names[id] }));
  if (points.some(({ at }) => at?.deletes.has(name))) return null;
  if (points.filter(({ at }) => at?.writes.has(name)).length !== 1) return null;
  const last = points.findLast(({ at }) => at?.reads.has(name));
  if (last === undefined || last.syntax.startIndex < bound.startIndex) return null;
  if (liveness.liveAfter(last.id).has(name) || last.syntax.type !== 'expression_statement') return null;
  const isOnce = loopsAround(last.syntax)[0]?.id === loopsAround(bound)[0]?.id;
  return isOnce ? last.syntax : null;
}

/** The next loop, or call of a function of this file, that computes with tensors after a statement has run. */
export function phaseAfter(statement: Node, one: Interpreted, program: Program, trains: boolean): Node | null {
  const first = one.graph.at.get(statement.id);
  if (first === undefined) return null;
  const seen = new Set<number>();
  const left = [...(one.graph.points[first]?.next ?? [])];
  const found: Node[] = [];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const point = one.graph.points[id];
    // Forward only: the next round of a loop around binds everything anew.
    if (seen.has(id) || point === undefined || point.syntax.startIndex < statement.endIndex) continue;
    seen.add(id);
    left.push(...point.next);
    if (isPhase(point.syntax, one, program, trains)) found.push(point.syntax);
  }
  return found.sort((a, b) => a.startIndex - b.startIndex)[0] ?? null;
}

function isPhase(statement: Node, one: Interpreted, program: Program, trains: boolean): boolean {
  if (statement.type === 'for_statement' || statement.type === 'while_statement') {
    return (
      backwardCallIn(statement) !== null ||
      trainsInCall(statement, program) ||
      (!trains && worksWithTensors(statement, one, program))
    );
  }
  if (!/^(expression|return)_statement$/.test(statement.type)) return false;
  if (trainsInCall(statement, program)) return true;
  return !trains && runsLoop(statement, one, program);
}

function trainsInCall(statement: Node, { module }: Program): boolean {
  for (const node of descend(statement)) {
    const target = node.type === 'call' ? node.childForFieldName('function') : null;
    if (target !== null && ownFunctions(target, module).some((scope) => backwardIn(scope, module))) return true;
  }
  return false;
}

/** A call of a function of this file with a loop that computes. */
function runsLoop(statement: Node, one: Interpreted, program: Program): boolean {
  for (const node of descend(statement)) {
    const target = node.type === 'call' ? node.childForFieldName('function') : null;
    if (target === null) continue;
    for (const scope of ownFunctions(target, program.module)) {
      const other = program.functions.find((candidate) => candidate.scope === scope);
      const loops = [...descend(scope.body)].filter((inner) => /^(for|while)_statement$/.test(inner.type));
      if (other !== undefined && other !== one && loops.some((loop) => worksWithTensors(loop, other, program)))
        return true;
    }
  }
  return false;
}
