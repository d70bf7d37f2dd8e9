import type { FunctionScope, ModuleScope } from '../scopes/module';
import type { Knowledge } from './evaluate';
import { interpret, type Interpreted } from './interpret';
import { join, unknown, type Value } from './value';

/** Results and arguments travel one call further each round; longer chains stay unknown. */
const rounds = 4;

interface Summaries {
  results: Map<number, Value>;
  attributes: Map<string, Value>;
  arguments: Map<string, Value>;
}

/** Every function of a file with its values, after what calls say of parameters and results has travelled. */
export function interpretModule(module: ModuleScope): Interpreted[] {
  let known: Summaries = { results: new Map(), attributes: new Map(), arguments: new Map() };
  let interpreted: Interpreted[] = [];
  for (let round = 0; round < rounds; round++) {
    const found: Summaries = { results: new Map(), attributes: new Map(), arguments: new Map() };
    const knowledge = knowledgeOf(module, known, found);
    interpreted = module.scopes.map((scope) => {
      const one = interpret(scope, knowledge, parameterValues(scope, known));
      found.results.set(scope.node.id, one.result);
      for (const [name, value] of one.attributes) add(found.attributes, `${scope.class?.name}.${name}`, value);
      return one;
    });
    known = found;
  }
  return interpreted;
}

function knowledgeOf(module: ModuleScope, known: Summaries, found: Summaries): Knowledge {
  return {
    module,
    result: (scope) => known.results.get(scope.node.id) ?? unknown,
    attribute: (className, attribute) => known.attributes.get(`${className}.${attribute}`) ?? unknown,
    called: (scope, args, keywords) => {
      scope.parameters.forEach((name, index) => {
        const value = args[index] ?? keywords.get(name);
        if (value !== undefined) add(found.arguments, `${scope.node.id}.${name}`, value);
      });
    },
  };
}

function parameterValues(scope: FunctionScope, known: Summaries): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const name of scope.parameters) {
    const value = known.arguments.get(`${scope.node.id}.${name}`);
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

function add(to: Map<string, Value>, key: string, value: Value): void {
  const known = to.get(key);
  to.set(key, known === undefined ? value : join(known, value));
}
