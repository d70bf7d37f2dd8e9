import type { FunctionScope, ModuleScope } from '../scopes/module';
import type { Knowledge } from './evaluate';
import { interpret, type Interpreted } from './interpret';
import { isSame, join, unknown, type Environment, type Value } from './value';

/** Results and arguments travel one call further each round; longer chains stay unknown. */
const mostRounds = 4;

/** What is known across functions: results, arguments, attributes and names of the top level, each under its key. */
type Summaries = Map<string, Value>;

/** One function with what it says of others, and the keys of what it asked of them. */
interface Visit {
  interpreted: Interpreted;
  asked: Set<string>;
  said: Summaries;
}

const keys = {
  result: (scope: FunctionScope): string => `result ${scope.node.id}`,
  argument: (scope: FunctionScope, name: string): string => `argument ${scope.node.id} ${name}`,
  attribute: (className: string, name: string): string => `attribute ${className} ${name}`,
  global: (name: string): string => `global ${name}`,
};

/** Every function of a file with its values, after what calls say of parameters and results has travelled. */
export function interpretModule(module: ModuleScope): Interpreted[] {
  const visits = new Map<FunctionScope, Visit>();
  let known: Summaries = new Map();
  let changed: ReadonlySet<string> = new Set();
  for (let round = 0; round < mostRounds; round++) {
    for (const scope of module.scopes) {
      const last = visits.get(scope);
      // Asked the same things and told the same answers, a function comes out the same.
      if (last === undefined || [...changed].some((key) => last.asked.has(key)))
        visits.set(scope, visit(scope, module, known));
    }
    const next: Summaries = new Map();
    for (const { said } of visits.values()) for (const [key, value] of said) add(next, key, value);
    changed = differences(known, next);
    known = next;
    if (changed.size === 0) break;
  }
  return [...visits.values()].map(({ interpreted }) => interpreted);
}

function visit(scope: FunctionScope, module: ModuleScope, known: Summaries): Visit {
  const asked = new Set<string>();
  const said: Summaries = new Map();
  const ask = (key: string): Value | undefined => {
    asked.add(key);
    return known.get(key);
  };
  const knowledge: Knowledge = {
    module,
    result: (other) => ask(keys.result(other)) ?? unknown,
    attribute: (className, attribute) => ask(keys.attribute(className, attribute)) ?? unknown,
    global: (name) => ask(keys.global(name)) ?? unknown,
    called: (other, args, keywords) => {
      other.parameters.forEach((name, index) => {
        const value = args[index] ?? keywords.get(name);
        if (value !== undefined) add(said, keys.argument(other, name), value);
      });
    },
  };
  const start: Environment = new Map(
    scope.parameters.flatMap((name) => {
      const value = ask(keys.argument(scope, name));
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const interpreted = interpret(scope, knowledge, start);
  said.set(keys.result(scope), interpreted.result);
  for (const [name, value] of interpreted.attributes) add(said, keys.attribute(scope.class?.name ?? '', name), value);
  for (const [name, value] of interpreted.globals) add(said, keys.global(name), value);
  return { interpreted, asked, said };
}

function differences(before: Summaries, after: Summaries): Set<string> {
  const changed = new Set<string>();
  for (const [key, value] of after) {
    const old = before.get(key);
    if (old === undefined || !isSame(old, value)) changed.add(key);
  }
  for (const key of before.keys()) if (!after.has(key)) changed.add(key);
  return changed;
}

function add(to: Summaries, key: string, value: Value): void {
  const known = to.get(key);
  to.set(key, known === undefined ? value : join(known, value));
}
