import { text, type Finding, type Fix, type Severity } from '../finding';
import { isFreedLater } from '../flow/freedLater';
import { isRenewed, loopsAround } from '../flow/loops';
import { scopeAround, type FunctionScope } from '../scopes/module';
import { keyword } from '../syntax/calls';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { backPropagated, namesIn } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import type { TensorValue, Value } from '../values/value';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';
import { storesOf } from './stores';

/**
 * P30 `captured-tensor`: a function that is made in a loop has a tensor bound to it, as a default, an argument of
 * `partial` or a name of the factory around, and a collection keeps the function: the tensor lives as long. A plain
 * closure over a loop's name holds the last value only.
 */
export const capturedTensor: Rule = {
  slugs: ['captured-tensor'],
  *find(one, program) {
    for (const keeping of [...stored(one, program), ...handedOver(one, program)]) {
      for (const bound of keeping.bound) {
        const severity = severityOf(bound, keeping);
        if (severity === null || backPropagates(bound.made)) continue;
        yield finding(keeping, bound, severity);
        break;
      }
    }
  },
};

/** A statement through which something keeps functions, with the tensors bound to them. */
interface Keeping {
  statement: Node;
  keeper: string;
  loop: Node | null;
  bound: Iterable<Bound>;
}

function* stored(one: Interpreted, program: Program): Iterable<Keeping> {
  for (const { how, statement, keeper, loop, expression, environment } of storesOf(one, program)) {
    if (how !== 'append' && how !== 'item') continue;
    yield { statement, keeper, loop, bound: boundTensors(expression, environment, one, program) };
  }
}

/** In a loop: `atexit.register(f, x)`, or a method of this file that adds the function it is given to a collection. */
function* handedOver(one: Interpreted, program: Program): Iterable<Keeping> {
  for (const { syntax } of one.graph.points) {
    const call = syntax.type === 'expression_statement' ? children(syntax)[0] : undefined;
    const target = call?.type === 'call' ? call.childForFieldName('function') : null;
    const environment = one.before.get(syntax.id);
    const [loop] = loopsAround(syntax);
    if (!call || !target || !environment || !loop) continue;
    const given = argumentsOf(call);
    if (one.evaluator.dotted(target) === 'atexit.register') {
      const functions = given.slice(0, 1).flatMap((first) => [...boundTensors(first, environment, one, program)]);
      const bound = [...functions, ...tensorsOf(given.slice(1), call, environment, one)];
      yield { statement: syntax, keeper: target.text, loop, bound };
      continue;
    }
    const object = target.childForFieldName('object');
    if (object === null || isRenewed(loop, object.text)) continue;
    const value = one.evaluator.evaluate(target, environment);
    if (value.kind !== 'function' || value.scope.class === null || value.scope.class.isModule) continue;
    const kept = given.filter((_, index) => keepsParameter(value.scope, index + 1, program));
    const bound = kept.flatMap((expression) => [...boundTensors(expression, environment, one, program)]);
    yield { statement: syntax, keeper: target.text, loop, bound };
  }
}

/** A method adds its parameter to a collection of its object. */
function keepsParameter(method: FunctionScope, index: number, program: Program): boolean {
  const name = method.parameters[index];
  const one = program.functions.find(({ scope }) => scope === method);
  if (name === undefined || one === undefined) return false;
  return storesOf(one, program).some(
    ({ how, keeperOf, expression }) =>
      (how === 'append' || how === 'item') && keeperOf === 'object' && namesIn(expression).includes(name),
  );
}

interface Bound {
  /** The bound value as it is written. */
  expression: Node;
  value: TensorValue;
  /** What makes the function. */
  made: Node;
}

/** Tensors bound to the functions in what is kept. */
function* boundTensors(
  expression: Node,
  environment: Environment,
  one: Interpreted,
  program: Program,
): Iterable<Bound> {
  switch (expression.type) {
    case 'tuple':
    case 'list':
    case 'parenthesized_expression':
    case 'expression_list':
      for (const item of children(expression)) yield* boundTensors(item, environment, one, program);
      return;
    case 'identifier':
      for (const definition of definitionsOf(expression, one)) yield* defaults(definition, environment, one);
      return;
    case 'lambda':
      yield* defaults(expression, environment, one);
      return;
    case 'call':
      if (isPartial(expression, one)) {
        yield* tensorsOf(argumentsOf(expression).slice(1), expression, environment, one);
      } else if (isWaitingThread(expression, one)) {
        yield* tensorsOf(givenToThread(expression), expression, environment, one);
      } else yield* givenToFactory(expression, environment, one, program);
  }
}

/** Functions of that name that are defined where it is kept, in the same round. */
function definitionsOf(name: Node, one: Interpreted): Node[] {
  return one.graph.points
    .map(({ syntax }) => (syntax.type === 'decorated_definition' ? (children(syntax).at(-1) ?? syntax) : syntax))
    .filter((syntax) => syntax.type === 'function_definition' && syntax.childForFieldName('name')?.text === name.text);
}

function* defaults(definition: Node, environment: Environment, one: Interpreted): Iterable<Bound> {
  const list = definition.childForFieldName('parameters');
  const values = (list === null ? [] : children(list)).map((parameter) => parameter.childForFieldName('value'));
  yield* tensorsOf(
    values.filter((value) => value !== null),
    definition,
    environment,
    one,
  );
}

function isPartial(call: Node, one: Interpreted): boolean {
  const target = call.childForFieldName('function');
  return target !== null && one.evaluator.dotted(target) === 'functools.partial';
}

/** `Thread(target=f, args=(x,))` lets go of its arguments only once it has run. */
function isWaitingThread(call: Node, one: Interpreted): boolean {
  const target = call.childForFieldName('function');
  return target !== null && /^threading\.(Thread|Timer)$/.test(one.evaluator.dotted(target) ?? '');
}

function givenToThread(call: Node): Node[] {
  const given = keyword(call, 'args');
  return given?.type === 'tuple' || given?.type === 'list' ? children(given) : [];
}

function argumentsOf(call: Node): Node[] {
  const list = call.childForFieldName('arguments');
  return list === null ? [] : children(list).map((one) => one.childForFieldName('value') ?? one);
}

/** `make_report(out)`, where it answers a function of its own that mentions the parameter. */
function* givenToFactory(call: Node, environment: Environment, one: Interpreted, program: Program): Iterable<Bound> {
  const target = call.childForFieldName('function');
  const value = target === null ? null : one.evaluator.evaluate(target, environment);
  if (value?.kind !== 'function' || value.scope.class !== null) return;
  const factory = value.scope;
  const inner = [...descend(factory.body)].filter(
    (node) =>
      (node.type === 'lambda' || node.type === 'function_definition') &&
      scopeAround(node, program.module) === factory &&
      isAnswer(node, factory.body),
  );
  for (const [index, argument] of argumentsOf(call).entries()) {
    const name = argument.parent?.type === 'keyword_argument' ? argument.parent.childForFieldName('name') : null;
    const parameter = name?.text ?? factory.parameters[index];
    const uses = inner.some((made) => {
      const body = made.childForFieldName('body');
      return body !== null && [...descend(body)].some((node) => node.type === 'identifier' && node.text === parameter);
    });
    if (uses && !isRebound(factory.body, parameter ?? '')) yield* tensorsOf([argument], call, environment, one);
  }
}

function isAnswer(made: Node, body: Node): boolean {
  if (made.type === 'lambda') return made.parent?.type === 'return_statement';
  const name = made.childForFieldName('name')?.text;
  return [...descend(body)].some((node) => node.type === 'return_statement' && children(node)[0]?.text === name);
}

/** `out = out.detach()` before the inner function: that one is captured. */
function isRebound(body: Node, name: string): boolean {
  return [...descend(body)].some((node) => node.type === 'assignment' && node.childForFieldName('left')?.text === name);
}

function* tensorsOf(
  expressions: readonly Node[],
  made: Node,
  environment: Environment,
  one: Interpreted,
): Iterable<Bound> {
  for (const expression of expressions) {
    const value = tensorIn(one.evaluator.evaluate(expression, environment));
    if (value !== null) yield { expression, value, made };
  }
}

function tensorIn(value: Value): TensorValue | null {
  if (value.kind === 'tensor') return value;
  if (value.kind === 'tuple') return value.items.map(tensorIn).find((item) => item !== null) ?? null;
  return null;
}

/** A graph or a whole tensor on the device grows; what is small or in host memory is let be. */
function severityOf({ expression, value }: Bound, { statement, loop }: Keeping): Severity | null {
  if (value.full && !value.host) return 'error';
  if (value.graph !== 'yes') return null;
  return value.freed !== 'no' || isFreedLater(expression.text, statement, loop) ? 'hint' : 'error';
}

/** What it keeps is for its own `backward()`. */
function backPropagates(made: Node): boolean {
  return [...descend(made)].some((node) => node.type === 'call' && backPropagated(node).length > 0);
}

function finding({ statement, keeper, loop }: Keeping, bound: Bound, severity: Severity): Finding {
  const { expression, value } = bound;
  const chain = [
    reason(expression, text('{0} is bound to the function here.', expression.text)),
    reason(statement, text('{0} keeps every one of these functions.', keeper)),
  ];
  if (value.graph === 'yes' && value.from !== null)
    chain.push(reason(value.from, text('The graph is recorded here, with the activations it needs.')));
  if (loop !== null) chain.push(reason(loop, text('Every round of this loop adds one.')));
  return {
    ...{ rule: 'captured-tensor', severity, start: statement.startIndex, end: statement.endIndex },
    message:
      severity === 'hint'
        ? text(
            'The function that {0} keeps holds {1} with its autograd history: host memory grows with every round. A number bound instead holds nothing.',
            ...[keeper, expression.text],
          )
        : text(
            'The function that {0} keeps holds {1}, and whatever its graph saved: GPU memory grows with every round until {0} is emptied. A number or a detached host copy bound instead frees it.',
            ...[keeper, expression.text],
          ),
    chain,
    fixes: fixes(expression, value),
  };
}

function fixes(expression: Node, value: TensorValue): Fix[] {
  if (!['identifier', 'attribute', 'call', 'subscript'].includes(expression.type)) return [];
  const { endIndex } = expression;
  const way = (method: string): Fix => ({
    title: text('Bind a value without the graph: {0}', `${expression.text}${method}`),
    safe: false,
    edits: [{ start: endIndex, end: endIndex, newText: method }],
  });
  return value.scalar ? [way('.item()'), way('.detach()')] : [way(value.graph === 'no' ? '.cpu()' : '.detach().cpu()')];
}
