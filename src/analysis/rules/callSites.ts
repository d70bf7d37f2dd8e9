import { statementAround } from '../syntax/statements';
import { scopeAround, type FunctionScope } from '../scopes/module';
import type { Node } from '../syntax/node';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import type { Program } from './rule';

/** A call with the function it stands in and what is known there. */
export interface CallSite {
  call: Node;
  one: Interpreted;
  environment: Environment;
}

const known = new WeakMap<Program, ReadonlyMap<FunctionScope, Interpreted>>();

/** A function of the file with its values. */
export function interpretedOf(scope: FunctionScope, program: Program): Interpreted | undefined {
  let functions = known.get(program);
  if (functions === undefined)
    known.set(program, (functions = new Map(program.functions.map((one) => [one.scope, one]))));
  return functions.get(scope);
}

/** Every call in the file whose name (`f`, or `.m` for a method) is asked for. */
export function* callSites(isAskedFor: (name: string) => boolean, program: Program): Iterable<CallSite> {
  const { module } = program;
  for (const [name, calls] of module.calls) {
    if (!isAskedFor(name)) continue;
    for (const call of calls) {
      const scope = scopeAround(call, module) ?? module.scopes[0];
      const one = scope === undefined ? undefined : interpretedOf(scope, program);
      const environment = one?.before.get(statementAround(call).id);
      if (one !== undefined && environment !== undefined) yield { call, one, environment };
    }
  }
}
