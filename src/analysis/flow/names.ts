import type { Node } from '../syntax/node';
import { children, descend } from '../syntax/parser';
import type { FlowGraph, FlowPoint } from './graph';

/** Plain names that a point reads and binds; `del` binds nothing and unbinds. */
export interface PointNames {
  reads: ReadonlySet<string>;
  writes: ReadonlySet<string>;
  deletes: ReadonlySet<string>;
}

const known = new WeakMap<FlowGraph, PointNames[]>();

export function namesAt(graph: FlowGraph): PointNames[] {
  let names = known.get(graph);
  if (names === undefined) {
    names = graph.points.map(readPoint);
    known.set(graph, names);
  }
  return names;
}

function readPoint(point: FlowPoint): PointNames {
  const found = { reads: new Set<string>(), writes: new Set<string>(), deletes: new Set<string>() };
  const { syntax } = point;
  if (syntax.type === 'for_statement') targets(syntax.childForFieldName('left'), found);
  const definition = syntax.type === 'decorated_definition' ? children(syntax).at(-1) : syntax;
  if (definition?.type === 'function_definition' || definition?.type === 'class_definition')
    found.writes.add(definition.childForFieldName('name')?.text ?? '');
  for (const node of point.own) collect(node, found, new Set());
  return found;
}

interface Found {
  reads: Set<string>;
  writes: Set<string>;
  deletes: Set<string>;
}

const mostDeep = 400;

/** Reads and writes of an expression or simple statement; names that a comprehension or lambda binds are its own. */
function collect(node: Node, into: Found, inner: ReadonlySet<string>, depth = 0): void {
  if (depth > mostDeep) {
    // Deeper than the stack may be: every name in it counts as read.
    for (const name of descend(node)) if (name.type === 'identifier') into.reads.add(name.text);
    return;
  }
  switch (node.type) {
    case 'identifier':
      if (!inner.has(node.text)) into.reads.add(node.text);
      return;
    case 'attribute':
      return each([node.childForFieldName('object')], into, inner, depth + 1);
    case 'keyword_argument':
      return each([node.childForFieldName('value')], into, inner, depth + 1);
    case 'assignment':
    case 'augmented_assignment':
      each([node.childForFieldName('right'), node.childForFieldName('type')], into, inner, depth + 1);
      if (node.type === 'augmented_assignment') each([node.childForFieldName('left')], into, inner, depth + 1);
      return targets(node.childForFieldName('left'), into);
    case 'named_expression':
      each([node.childForFieldName('value')], into, inner, depth + 1);
      return targets(node.childForFieldName('name'), into);
    case 'delete_statement':
      return deletions(node, into);
    case 'import_statement':
    case 'import_from_statement':
      return imported(node, into);
    case 'as_pattern': {
      const [value, target] = children(node);
      each([value], into, inner, depth + 1);
      return targets(target ?? null, into);
    }
    case 'case_pattern':
      for (const name of descend(node)) if (name.type === 'identifier') into.writes.add(name.text);
      return;
    case 'typed_parameter':
    case 'default_parameter':
    case 'typed_default_parameter':
      return each([node.childForFieldName('value')], into, inner, depth + 1);
    case 'parameters':
      return each(
        children(node).filter((child) => child.type.includes('default')),
        into,
        inner,
        depth + 1,
      );
    case 'function_definition':
      return each([node.childForFieldName('parameters')], into, inner, depth + 1);
    case 'class_definition':
      return each(children(node).slice(1), into, inner, depth + 1);
    case 'lambda': {
      const bound = new Set(inner);
      const parameters = node.childForFieldName('parameters');
      for (const name of parameters === null ? [] : children(parameters)) {
        bound.add((name.childForFieldName('name') ?? name).text);
        each([name.childForFieldName('value')], into, inner, depth + 1);
      }
      return each([node.childForFieldName('body')], into, bound, depth + 1);
    }
    case 'list_comprehension':
    case 'set_comprehension':
    case 'dictionary_comprehension':
    case 'generator_expression': {
      const bound = new Set(inner);
      for (const clause of children(node)) {
        const left = clause.type === 'for_in_clause' ? clause.childForFieldName('left') : null;
        if (left !== null) for (const name of descend(left)) if (name.type === 'identifier') bound.add(name.text);
      }
      return each(
        children(node).flatMap((child) =>
          child.type === 'for_in_clause' ? [child.childForFieldName('right')] : [child],
        ),
        into,
        bound,
        depth + 1,
      );
    }
    default:
      return each(children(node), into, inner, depth + 1);
  }
}

function each(nodes: readonly (Node | null | undefined)[], into: Found, inner: ReadonlySet<string>, depth = 0): void {
  for (const node of nodes) if (node) collect(node, into, inner, depth);
}

/** Names that a target binds; of `a.b = …` and `a[i] = …` the stems are read. */
function targets(target: Node | null, into: Found): void {
  if (target === null) return;
  switch (target.type) {
    case 'identifier':
      into.writes.add(target.text);
      return;
    case 'attribute':
    case 'subscript':
      collect(target, into, new Set());
      return;
    default:
      for (const part of children(target)) targets(part, into);
  }
}

function deletions(statement: Node, into: Found): void {
  for (const target of children(statement)) {
    const listed = target.type === 'expression_list' || target.type === 'tuple' ? children(target) : [target];
    for (const one of listed) {
      if (one.type === 'identifier') into.deletes.add(one.text);
      else collect(one, into, new Set());
    }
  }
}

function imported(statement: Node, into: Found): void {
  const from = statement.childForFieldName('module_name');
  for (const item of children(statement)) {
    if (item === from) continue;
    const name = item.childForFieldName('alias') ?? item.childForFieldName('name') ?? item;
    into.writes.add(name.text.split('.')[0] ?? name.text);
  }
}

/** Names that functions inside `body` mention: they may run at any time, so the names live as long as the scope. */
export function capturedNames(body: Node): ReadonlySet<string> {
  let names = captured.get(body);
  if (names === undefined) captured.set(body, (names = readCaptured(body)));
  return names;
}

const captured = new WeakMap<Node, ReadonlySet<string>>();

function readCaptured(body: Node): Set<string> {
  const captured = new Set<string>();
  for (const node of descend(body)) {
    if (node.type !== 'function_definition' && node.type !== 'lambda' && node.type !== 'generator_expression') continue;
    if (node === body.parent || node === body) continue;
    const inside = node.type === 'generator_expression' ? node : node.childForFieldName('body');
    // A generator that a call consumes at once does not outlive its statement.
    if (node.type === 'generator_expression' && node.parent?.type === 'call') continue;
    if (node.type === 'generator_expression' && node.parent?.type === 'argument_list') continue;
    for (const name of inside === null ? [] : descend(inside)) if (name.type === 'identifier') captured.add(name.text);
  }
  return captured;
}
