import { backPropagatesAnything, graphOf, ownFunctions, takenToBackward } from '../flow/backward';
import { backwardIn } from '../flow/training';
import { classAttribute } from '../scopes/classBody';
import { isClass, type ClassScope, type FunctionScope, type ModuleScope } from '../scopes/module';
import { children } from '../syntax/parser';
import { Evaluator, type Knowledge } from './evaluate';
import { environmentOf } from './environment';
import { interpret, type Interpreted } from './interpret';
import { isSame, join, plain, tuple, unknown, type Value } from './value';

/** A function is read so often at most: what has not settled by then stays as it is. */
const mostVisits = 5;

/** What is known across functions: results, arguments, attributes and names of scopes around, each under its key. */
type Summaries = Map<string, Value>;

/** One function with what it says of others. */
interface Visit {
  interpreted: Interpreted;
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

/**
 * Every function of a file with its values, after what calls (of the files it imports, too) say of parameters and results
 * has travelled. A function is read again when an answer it was given has changed.
 */
export class Interpretation implements ProgramValues {
  private readonly board = new Board();
  private readonly interpreted = new Map<FunctionScope, Interpreted>();
  private files: readonly ModuleScope[];

  constructor(
    private module: ModuleScope,
    private readonly imported: readonly ModuleScope[] = [],
  ) {
    this.files = [module, ...imported];
    this.read(new Set(this.files.flatMap((file) => file.scopes)));
  }

  get functions(): Interpreted[] {
    return this.module.scopes.flatMap((scope) => this.interpreted.get(scope) ?? []);
  }

  isHook(scope: FunctionScope): boolean {
    return this.board.isKnown(keys.hook(scope));
  }

  /** Goes on with another reading of the file; answers the functions that were read again. */
  update(module: ModuleScope): Set<FunctionScope> {
    const scopes = new Set(module.scopes);
    for (const scope of this.module.scopes) {
      if (scopes.has(scope)) continue;
      this.interpreted.delete(scope);
      // A new function in its place says its own.
      if (!module.scopeOf.has(scope.node.id)) this.board.say(new Map(), scope.node.id);
    }
    this.module = module;
    this.files = [module, ...this.imported];
    return this.read(new Set(module.scopes.filter((scope) => !this.interpreted.has(scope))));
  }

  /** Reads functions again with the answers of today; answers all that were read. */
  read(first: ReadonlySet<FunctionScope>): Set<FunctionScope> {
    const all = this.files.flatMap((file) => file.scopes.map((scope) => ({ scope, file })));
    const waiting = new Set([...first].map((scope) => scope.node.id));
    const visits = new Map<FunctionScope, number>();
    for (let any = true; any;) {
      any = false;
      for (const { scope, file } of all) {
        const id = scope.node.id;
        const count = (visits.get(scope) ?? 0) + 1;
        if (!waiting.delete(id) || count > mostVisits) continue;
        any = true;
        visits.set(scope, count);
        const one = visit(scope, file, (key) => this.board.ask(key, id));
        this.interpreted.set(scope, one.interpreted);
        for (const asker of this.board.say(one.said, id)) waiting.add(asker);
      }
    }
    return new Set(visits.keys());
  }
}

/** What functions say of one another: of each key the values that all of them give, joined. */
class Board {
  private readonly known: Summaries = new Map();
  private readonly said = new Map<string, Map<number, Value>>();
  private readonly keysOf = new Map<number, ReadonlySet<string>>();
  private readonly askers = new Map<string, Set<number>>();

  ask(key: string, asker: number): Value | undefined {
    const askers = this.askers.get(key);
    if (askers === undefined) this.askers.set(key, new Set([asker]));
    else askers.add(asker);
    return this.known.get(key);
  }

  isKnown(key: string): boolean {
    return this.known.has(key);
  }

  /** Replaces what a function said before; answers whom the news concerns. */
  say(summaries: Summaries, speaker: number): Set<number> {
    const concerned = new Set<number>();
    const old = this.keysOf.get(speaker) ?? new Set();
    this.keysOf.set(speaker, new Set(summaries.keys()));
    for (const key of new Set([...old, ...summaries.keys()])) {
      if (!this.update(key, summaries.get(key), speaker)) continue;
      for (const asker of this.askers.get(key) ?? []) concerned.add(asker);
    }
    return concerned;
  }

  private update(key: string, value: Value | undefined, speaker: number): boolean {
    const said = this.said.get(key) ?? new Map<number, Value>();
    this.said.set(key, said);
    if (value === undefined) said.delete(speaker);
    else said.set(speaker, value);
    const before = this.known.get(key);
    const after = said.size === 0 ? undefined : [...said.values()].reduce(join);
    if (after === undefined) this.known.delete(key);
    else this.known.set(key, after);
    return before === undefined || after === undefined ? before !== after : !isSame(before, after);
  }
}

function visit(scope: FunctionScope, module: ModuleScope, ask: (key: string) => Value | undefined): Visit {
  const said: Summaries = new Map();
  const top = module.scopes[0] as FunctionScope;
  const knowledge: Knowledge = {
    module,
    result: (other) => ask(keys.result(other)) ?? unknown,
    attribute: (owner, attribute) => {
      const known = attributeOf(owner, attribute, module, ask);
      const shared = known.kind === 'unknown' ? classAttribute(owner, attribute) : null;
      const value = shared === null ? known : new Evaluator(top, knowledge).evaluate(shared, environmentOf(new Map()));
      return value.kind === 'container' ? value : known;
    },
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
      const [only] = owned;
      if (owned.length !== 1 || only === undefined || !backwardIn(only, module)) return [];
      return takenToBackward(call, only, module);
    },
    called: (other, args, keywords) => {
      other.parameters.forEach((name, index) => {
        const isRest = restOf(other) === index;
        const value = isRest ? tuple(args.slice(index)) : (args[index] ?? keywords.get(name));
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
  return { interpreted, said };
}

/** Where a function has a `*args`. */
function restOf({ node }: FunctionScope): number | undefined {
  const list = node.childForFieldName('parameters');
  const index = list === null ? -1 : children(list).findIndex(({ type }) => type === 'list_splat_pattern');
  return index < 0 ? undefined : index;
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

function add(to: Summaries, key: string, value: Value): void {
  const known = to.get(key);
  to.set(key, known === undefined ? value : join(known, value));
}
