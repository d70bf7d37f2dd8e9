import { backPropagatesAnything, graphOf, ownFunctions, takenToBackward } from '../flow/backward';
import { isClass, type ClassScope, type FunctionScope, type ModuleScope } from '../scopes/module';
import { Evaluator, type Knowledge } from './evaluate';
import { environmentOf } from './environment';
import { interpret, type Interpreted } from './interpret';
import { isSame, join, plain, unknown, type Value } from './value';

/** Results and arguments travel one call further each round; longer chains stay unknown. */
const mostRounds = 5;

/** What is known across functions: results, arguments, attributes and names of scopes around, each under its key. */
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
  attribute: (owner: ClassScope, name: string): string => `attribute ${owner.node.id} ${name}`,
  seen: (scope: FunctionScope, name: string): string => `seen ${scope.node.id} ${name}`,
  hook: (scope: FunctionScope): string => `hook ${scope.node.id}`,
};

/** The functions of a file with their values, and which of them are hooks of modules. */
export interface ProgramValues {
  functions: Interpreted[];
  isHook(scope: FunctionScope): boolean;
}

/** Every function of a file with its values, after what calls (of the files it imports, too) say of parameters and results has travelled. */
export function interpretModule(module: ModuleScope, imported: readonly ModuleScope[] = []): ProgramValues {
  const all = [module, ...imported].flatMap((file) => file.scopes.map((scope) => ({ scope, file })));
  const visits = new Map<FunctionScope, Visit>();
  let known: Summaries = new Map();
  let changed: ReadonlySet<string> = new Set();
  for (let round = 0; round < mostRounds; round++) {
    const news = [...changed];
    for (const { scope, file } of all) {
      const last = visits.get(scope);
      // Asked the same things and told the same answers, a function comes out the same.
      if (last === undefined || news.some((key) => last.asked.has(key))) visits.set(scope, visit(scope, file, known));
    }
    const next: Summaries = new Map();
    for (const { said } of visits.values()) for (const [key, value] of said) add(next, key, value);
    changed = differences(known, next);
    known = next;
    if (changed.size === 0) break;
  }
  return {
    functions: module.scopes.flatMap((scope) => visits.get(scope)?.interpreted ?? []),
    isHook: (scope) => known.has(keys.hook(scope)),
  };
}

function visit(scope: FunctionScope, module: ModuleScope, known: Summaries): Visit {
  const asked = new Set<string>();
  const said: Summaries = new Map();
  const ask = (key: string): Value | undefined => {
    asked.add(key);
    return known.get(key);
  };
  const top = module.scopes[0] as FunctionScope;
  const knowledge: Knowledge = {
    module,
    result: (other) => ask(keys.result(other)) ?? unknown,
    attribute: (owner, attribute) => attributeOf(owner, attribute, module, ask),
    anyAttribute: (attribute) => {
      const owners = module.attributeOwners.get(attribute);
      const owner = module.classes.get([...(owners ?? [])][0] ?? '');
      return owners?.size === 1 && owner !== undefined ? (ask(keys.attribute(owner, attribute)) ?? unknown) : unknown;
    },
    global: (name) => ask(keys.seen(top, name)) ?? unknown,
    enclosing: (inner, name) => {
      for (let at = inner.around; at !== null; at = at.around) {
        const value = ask(keys.seen(at, name));
        if (value !== undefined) return value;
      }
      return unknown;
    },
    graphOf,
    backPropagates: (call) => {
      if (!backPropagatesAnything(module)) return [];
      const target = call.childForFieldName('function');
      const owned = target === null ? [] : ownFunctions(target, module);
      return owned.length === 1 ? takenToBackward(call, owned[0] as FunctionScope, module) : [];
    },
    called: (other, args, keywords) => {
      other.parameters.forEach((name, index) => {
        const value = args[index] ?? keywords.get(name);
        // What a function that calls itself does not know of its own parameters, its other callers say.
        const isOpen = other === scope && value?.kind === 'unknown';
        if (value !== undefined && !isOpen) add(said, keys.argument(other, name), value);
      });
    },
    hooked: (other) => said.set(keys.hook(other), plain),
  };
  const start = environmentOf(
    new Map(
      scope.parameters.flatMap((name, index) => {
        // The object itself is known by its class.
        if (index === 0 && scope.class !== null && !scope.isStatic) return [];
        const given = ask(keys.argument(scope, name));
        const otherwise = scope.defaults.get(name);
        const fallback =
          otherwise === undefined
            ? undefined
            : new Evaluator(scope, knowledge).evaluate(otherwise, environmentOf(new Map()));
        const value = given === undefined ? fallback : fallback === undefined ? given : join(fallback, given);
        return value === undefined || value.kind === 'unknown' ? [] : [[name, value] as const];
      }),
    ),
  );
  const interpreted = interpret(scope, knowledge, start);
  said.set(keys.result(scope), interpreted.result);
  if (scope.class !== null)
    for (const [name, value] of interpreted.attributes) add(said, keys.attribute(scope.class, name), value);
  for (const [name, value] of interpreted.seen) add(said, keys.seen(scope, name), value);
  return { interpreted, asked, said };
}

/** An attribute that a class or one of its bases in this file sets. */
function attributeOf(
  owner: ClassScope,
  attribute: string,
  module: ModuleScope,
  ask: (key: string) => Value | undefined,
): Value {
  const own = ask(keys.attribute(owner, attribute));
  if (own !== undefined) return own;
  for (const name of owner.bases) {
    const base = module.classes.get(name) ?? module.linked.get(name);
    const inherited = base !== undefined && isClass(base) ? ask(keys.attribute(base, attribute)) : undefined;
    if (inherited !== undefined) return inherited;
  }
  return unknown;
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
