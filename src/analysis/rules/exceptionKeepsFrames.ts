import { text, type Finding, type Fix, type Text } from '../finding';
import { retryOutside } from '../fixes/retryOutside';
import { ownFunctions } from '../flow/backward';
import { livenessOf } from '../flow/liveness';
import { loopsAround } from '../flow/loops';
import { callsOf } from '../scopes/gradMode';
import { scopeAround } from '../scopes/module';
import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import { assignmentOf, statementAround } from '../syntax/statements';
import type { Environment } from '../values/environment';
import type { Interpreted } from '../values/interpret';
import type { HolderValue } from '../values/value';
import { reason } from './keptGraph';
import type { Program, Rule } from './rule';
import { storesOf } from './stores';
import { worksWithTensors } from './tensorWork';

/**
 * P12 `exception-keeps-frames`: an exception that is kept holds its traceback, and that every frame between the `try`
 * and the error with all their tensors. While a handler runs the exception is alive, too: a second attempt inside it
 * needs its memory beside that of the first.
 */
export const exceptionKeepsFrames: Rule = {
  slugs: ['exception-keeps-frames'],
  mentions: /\bexcept\b/,
  *find(one, program) {
    for (const kept of keptExceptions(one, program)) {
      if (holdsTensors(kept.exception, program)) yield keptFinding(kept, program);
    }
    for (const { syntax } of one.graph.points) {
      if (syntax.type !== 'except_clause') continue;
      const retry = retryIn(syntax, one, program);
      if (retry !== null) yield retryFinding(retry, syntax, program);
    }
  },
};

interface KeptException {
  statement: Node;
  /** As it is written. */
  expression: Node;
  exception: HolderValue;
  keeper: string;
  /** One more with every failure. */
  grows: boolean;
}

function* keptExceptions(one: Interpreted, program: Program): Iterable<KeptException> {
  const seen = new Set<number>();
  for (const { statement, how, expression, environment, keeper } of storesOf(one, program)) {
    if (how !== 'append' && how !== 'item') continue;
    for (const found of exceptionsIn(expression, one, environment)) {
      seen.add(statement.id);
      yield { statement, ...found, keeper, grows: true };
    }
  }
  for (const { syntax } of one.graph.points) {
    const environment = one.before.get(syntax.id);
    if (environment !== undefined && syntax.type === 'return_statement' && isCollected(one, program)) {
      for (const found of exceptionsIn(children(syntax)[0] ?? syntax, one, environment))
        yield { statement: syntax, ...found, keeper: one.scope.name, grows: true };
    }
    const assignment = assignmentOf(syntax);
    const left = assignment?.childForFieldName('left');
    const right = assignment?.childForFieldName('right');
    if (!environment || !left || !right || seen.has(syntax.id) || !outlivesHandler(left, syntax, one)) continue;
    for (const found of exceptionsIn(right, one, environment))
      // What a record is made with is kept where the record is made.
      if (one.scope.name !== '__init__' || handlerAround(syntax) !== null)
        yield { statement: syntax, ...found, keeper: left.text, grows: false };
  }
}

/** What the function answers is put into a collection by a caller that goes from one attempt to the next. */
function isCollected({ scope }: Interpreted, { module }: Program): boolean {
  return callsOf(scope, module).some((call) => {
    const isInLoop = loopsAround(call).length > 0;
    const list = call.parent?.type === 'argument_list' ? call.parent.parent : null;
    if (/list_comprehension|dictionary_comprehension/.test(call.parent?.type ?? '')) return true;
    return isInLoop && /\.append$/.test(list?.childForFieldName('function')?.text ?? '');
  });
}

/** An attribute, or a name that is still wanted when a loop has gone on to the next attempt. */
function outlivesHandler(target: Node, statement: Node, one: Interpreted): boolean {
  if (target.type === 'attribute') return true;
  if (target.type !== 'identifier' || loopsAround(statement).length === 0) return false;
  const point = one.graph.at.get(statement.id);
  const handler = handlerAround(statement);
  if (point === undefined || handler === null || handlerEnds(handler)) return false;
  return livenessOf(one.graph, one.scope.body, one.scope.parameters).liveAfter(point).has(target.text);
}

/** The handler leaves the loop or the function at its end. */
function handlerEnds(handler: Node): boolean {
  const last = children(children(handler).at(-1) ?? handler).at(-1);
  return last !== undefined && /^(return|raise|break)_statement$/.test(last.type);
}

/** Expressions in what is kept that are an exception, or what `sys.exc_info()` answers. */
function* exceptionsIn(
  expression: Node,
  one: Interpreted,
  environment: Environment,
): Iterable<{ expression: Node; exception: HolderValue }> {
  switch (expression.type) {
    case 'tuple':
    case 'list':
    case 'set':
    case 'parenthesized_expression':
    case 'expression_list':
    case 'dictionary':
    case 'argument_list':
      for (const item of children(expression)) yield* exceptionsIn(item, one, environment);
      return;
    case 'pair':
    case 'keyword_argument': {
      const value = expression.childForFieldName('value');
      if (value !== null) yield* exceptionsIn(value, one, environment);
      return;
    }
  }
  const value = one.evaluator.evaluate(expression, environment);
  if (value.kind === 'holder' && value.role === 'exception') yield { expression, exception: value };
  const isRecord = /^([A-Z]\w*|dict)$/.test(expression.childForFieldName('function')?.text ?? '');
  const list = expression.type === 'call' && isRecord ? expression.childForFieldName('arguments') : null;
  if (list !== null) yield* exceptionsIn(list, one, environment);
}

/** What the interpreter or the file system raises, before anything is computed. */
const harmless =
  /^\(?\s*((\w+\.)?(ImportError|ModuleNotFoundError|StopIteration|KeyboardInterrupt|Empty|Full|FileNotFoundError|EOFError)[\s,)]*)+( as \w+)?$/;

/** The frames it holds have computed with tensors, and nobody takes the traceback off it. */
function holdsTensors({ made }: HolderValue, program: Program): boolean {
  const handler = handlerAround(made);
  const body = handler?.parent?.childForFieldName('body');
  if (!handler || !body || harmless.test(caughtBy(handler))) return false;
  if (/__traceback__\s*=\s*None|clear_frames|with_traceback\(None\)/.test(handler.text)) return false;
  const around = scopeAround(handler, program.module) ?? program.module.scopes[0];
  const one = program.functions.find(({ scope }) => scope === around);
  return one !== undefined && worksWithTensors(body, one, program);
}

function handlerAround(node: Node): Node | null {
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (at.type === 'except_clause') return at;
    if (at.type === 'function_definition') return null;
  }
  return null;
}

function caughtBy(handler: Node): string {
  return children(handler)
    .filter((child) => child.type !== 'block')
    .map((child) => child.text)
    .join('');
}

function keptFinding({ statement, expression, exception, keeper, grows }: KeptException, program: Program): Finding {
  const handler = handlerAround(exception.made) ?? exception.made;
  const { startIndex: start, endIndex: end } = statement;
  return {
    ...{ rule: 'exception-keeps-frames', severity: grows ? 'error' : 'warning', start, end },
    message: grows
      ? text(
          '{0} keeps the exception, and its traceback every frame up to the error with all their tensors: GPU memory grows with every failure. Its text, or the exception without its traceback, keeps none of them.',
          keeper,
        )
      : text(
          '{0} keeps the exception, and its traceback every frame up to the error: their tensors stay on the GPU as long as {0} does. Its text, or the exception without its traceback, keeps none of them.',
          keeper,
        ),
    chain: [
      reason(handler, text('The exception is caught here; its traceback refers to the frames of the failed call.')),
      reason(expression, text('The exception itself is kept, not only its text.')),
    ],
    fixes: keptFixes(expression, program.source),
  };
}

function keptFixes(expression: Node, source: string): Fix[] {
  const replace = (title: Text, newText: string, safe: boolean): Fix => ({
    ...{ title, safe },
    edits: [{ start: expression.startIndex, end: expression.endIndex, newText }],
  });
  const asText = (of: string): Fix => replace(text('Keep its text: {0}', `str(${of})`), `str(${of})`, false);
  if (expression.type === 'call' && expression.text.endsWith('exc_info()')) return [asText(`${expression.text}[1]`)];
  if (expression.type !== 'identifier') return [];
  const name = expression.text;
  // Raised or printed with its traceback later, it would show less of it.
  const isShown = /\btraceback\b|exc_info|__traceback__|\braise\s+[a-z_][\w.]*\s*(#.*)?$/m.test(source);
  const bare = `${name}.with_traceback(None)`;
  return [replace(text('Keep it without its traceback: {0}', bare), bare, !isShown), asText(name)];
}

/** The first call in a handler that makes a second attempt. */
function retryIn(handler: Node, one: Interpreted, program: Program): Node | null {
  const body = handler.parent?.childForFieldName('body');
  const block = children(handler).find((child) => child.type === 'block');
  const caught = caughtBy(handler);
  const isOfMemory = /OutOfMemory|OOM|MemoryError/.test(caught);
  if (!body || !block || (!isOfMemory && !/RuntimeError/.test(caught) && !/memory|oom/i.test(handler.text)))
    return null;
  if (!worksWithTensors(body, one, program)) return null;
  const first = new Set(callsIn(body).map((call) => call.childForFieldName('function')?.text));
  for (const call of callsIn(block)) {
    const target = call.childForFieldName('function');
    if (target === null) continue;
    const again = ownFunctions(target, program.module).includes(one.scope);
    const environment = one.before.get(statementAround(call).id);
    const value = environment === undefined ? null : one.evaluator.evaluate(call, environment);
    const computes =
      first.has(target.text) &&
      (value?.kind === 'tensor'
        ? value.full || value.graph === 'yes'
        : ownFunctions(target, program.module).some((scope) => worksInside(scope.body, program)));
    if (again || computes) return call;
  }
  return null;
}

function worksInside(body: Node, program: Program): boolean {
  const one = program.functions.find(({ scope }) => scope.body === body);
  return one !== undefined && worksWithTensors(body, one, program);
}

function callsIn(block: Node): Node[] {
  const isInner = (node: Node): boolean => /^(function_definition|lambda|class_definition)$/.test(node.type);
  return [...descend(block, (node) => !isInner(node))].filter((node) => node.type === 'call');
}

function retryFinding(call: Node, handler: Node, program: Program): Finding {
  const statement = statementAround(call);
  const fix = retryOutside(call, handler, program.source);
  return {
    ...{ rule: 'exception-keeps-frames', severity: 'warning', start: statement.startIndex, end: statement.endIndex },
    message: text(
      'The second attempt runs inside the handler: the exception still holds the frames of the first one with all their tensors, so both need GPU memory at once. After the try statement the first is freed.',
    ),
    chain: [
      reason(handler, text('Until this handler ends, the exception keeps the frames of the failed attempt.')),
      reason(call, text('{0} needs its own memory beside them.', call.childForFieldName('function')?.text ?? '')),
    ],
    fixes: fix === null ? [] : [fix],
  };
}
