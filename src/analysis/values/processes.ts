import type { Node } from '../syntax/node';
import type { Call } from './calls';
import type { Evaluator } from './evaluate';
import { noSites } from './sites';
import { plain, unknownHolding, type Value } from './value';

/** Queues between threads and between processes. */
export function isQueue(name: string): boolean {
  return /^(queue|multiprocessing|torch\.multiprocessing)\.(Queue|SimpleQueue|JoinableQueue|LifoQueue)$/.test(name);
}

export function queue(made: Node): Value {
  return { kind: 'holder', role: 'queue', made, host: false, holds: noSites };
}

/** What runs a function elsewhere, with the arguments that it is given for it. */
export const startsFunctions =
  /^(threading\.(Thread|Timer)|(torch\.)?multiprocessing\.(Process|spawn|start_processes))$/;

/** `Process(target=work, args=(queue,))`, `spawn(work, args=(queue,))`: there the number of the process comes first. */
export function started(name: string, made: Call, evaluator: Evaluator): Value {
  const numbers = /spawn|start_processes/.test(name);
  const target = made.keywords.get(numbers ? 'fn' : 'target') ?? (numbers ? made.args[0] : made.args[1]);
  const given = made.keywords.get('args') ?? (numbers ? made.args[1] : undefined);
  if (target?.kind === 'function') {
    const { scope } = target;
    const self: Value[] =
      scope.class !== null && !scope.isStatic
        ? [{ kind: 'instance', of: scope.class, frozen: false, holds: target.holds }]
        : [];
    const args = given?.kind === 'tuple' ? given.items : [];
    evaluator.knowledge.called(scope, [...self, ...(numbers ? [plain] : []), ...args], new Map());
  }
  return unknownHolding(made.holds);
}
