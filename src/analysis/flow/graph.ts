import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';

/** One point of the control flow: a simple statement, or the head of a compound one. */
export interface FlowPoint {
  syntax: Node;
  /** The parts of it that are evaluated here: not the blocks of a compound statement. */
  own: readonly Node[];
  next: number[];
}

/** Points in the order of the source; an edge that goes back belongs to a loop. */
export interface FlowGraph {
  points: FlowPoint[];
  entry: number;
  /** Points by the id of their syntax node. */
  at: Map<number, number>;
}

interface Loop {
  head: number;
  breaks: number[];
}

/**
 * The control-flow graph of a function's body, a lambda's expression or a file: branches, loops with else, with, try
 * with its handlers and finally, match.
 */
export function flowGraph(body: Node): FlowGraph {
  const builder = new Builder();
  const entry = builder.point(body, [], []);
  if (body.type === 'block' || body.type === 'module') builder.block(body, [entry]);
  else builder.point(body, [body], [entry]);
  const at = new Map<number, number>();
  builder.points.forEach((point, id) => {
    if (id !== entry || point.own.length > 0) at.set(point.syntax.id, id);
  });
  return { points: builder.points, entry, at };
}

class Builder {
  readonly points: FlowPoint[] = [];
  private readonly loops: Loop[] = [];

  point(syntax: Node, own: readonly (Node | null | undefined)[], from: readonly number[]): number {
    const parts = own.filter((node): node is Node => node !== null && node !== undefined);
    const id = this.points.push({ syntax, own: parts, next: [] }) - 1;
    this.join(from, id);
    return id;
  }

  /** Statements of a block one after the other; the points that control leaves it from. */
  block(block: Node | null, from: number[]): number[] {
    let at = from;
    for (const statement of block === null ? [] : children(block)) at = this.statement(statement, at);
    return at;
  }

  private join(from: readonly number[], to: number): void {
    for (const id of from) {
      const point = this.points[id];
      if (point !== undefined && !point.next.includes(to)) point.next.push(to);
    }
  }

  private statement(node: Node, from: number[]): number[] {
    switch (node.type) {
      case 'if_statement':
        return this.branches(node, from);
      case 'for_statement':
      case 'while_statement':
        return this.loop(node, from);
      case 'with_statement': {
        const items = children(node).filter((child) => child.type === 'with_clause');
        return this.block(node.childForFieldName('body'), [this.point(node, items, from)]);
      }
      case 'try_statement':
        return this.attempt(node, from);
      case 'match_statement':
        return this.match(node, from);
      case 'return_statement':
      case 'raise_statement':
        this.point(node, [node], from);
        return [];
      case 'break_statement':
        this.loops.at(-1)?.breaks.push(...from);
        return [];
      case 'continue_statement':
        this.join(from, this.loops.at(-1)?.head ?? 0);
        return [];
      case 'function_definition':
        return [this.point(node, [node.childForFieldName('parameters')], from)];
      case 'decorated_definition':
        return [this.point(node, decorated(node), from)];
      default:
        return [this.point(node, [node], from)];
    }
  }

  private branches(node: Node, from: number[]): number[] {
    let test = this.point(node, [node.childForFieldName('condition')], from);
    const exits = this.block(node.childForFieldName('consequence'), [test]);
    let open = true;
    for (const clause of children(node)) {
      if (clause.type === 'elif_clause') {
        test = this.point(clause, [clause.childForFieldName('condition')], [test]);
        exits.push(...this.block(clause.childForFieldName('consequence'), [test]));
      } else if (clause.type === 'else_clause') {
        open = false;
        exits.push(...this.block(clause.childForFieldName('body'), [test]));
      }
    }
    return open ? [...exits, test] : exits;
  }

  private loop(node: Node, from: number[]): number[] {
    const condition = node.childForFieldName('condition');
    const head = this.point(node, [node.childForFieldName('right') ?? condition], from);
    const loop: Loop = { head, breaks: [] };
    this.loops.push(loop);
    this.join(this.block(node.childForFieldName('body'), [head]), head);
    this.loops.pop();
    const otherwise = children(node).find((child) => child.type === 'else_clause');
    const endless = condition !== null && /^(True|1)$/.test(condition.text);
    const after = this.block(otherwise?.childForFieldName('body') ?? null, endless ? [] : [head]);
    return [...after, ...loop.breaks];
  }

  /** Any statement of the body may raise, so every one of its points leads to each handler. */
  private attempt(node: Node, from: number[]): number[] {
    const first = this.points.length;
    const start = this.point(node, [], from);
    let exits = this.block(node.childForFieldName('body'), [start]);
    const raising = range(first, this.points.length);
    const handled: number[] = [];
    let last: Node | null = null;
    for (const clause of children(node)) {
      const body = children(clause).findLast((child) => child.type === 'block') ?? null;
      if (clause.type.startsWith('except')) {
        const caught = children(clause).filter((child) => child !== body);
        handled.push(...this.block(body, [this.point(clause, caught, raising)]));
      } else if (clause.type === 'else_clause') exits = this.block(body, exits);
      else if (clause.type === 'finally_clause') last = body;
    }
    exits = [...exits, ...handled];
    // It runs after a return, too, and after what no handler takes.
    return last === null ? exits : this.block(last, [...exits, ...range(first, this.points.length)]);
  }

  private match(node: Node, from: number[]): number[] {
    const subject = this.point(node, [node.childForFieldName('subject')], from);
    const exits = [subject];
    for (const clause of children(node.childForFieldName('body') ?? node)) {
      if (clause.type !== 'case_clause') continue;
      const body = clause.childForFieldName('consequence');
      const tests = children(clause).filter((child) => child !== body);
      exits.push(...this.block(body, [this.point(clause, tests, [subject])]));
    }
    return exits;
  }
}

/** Decorators and the defaults of parameters are evaluated where a definition stands; a class's body is, too. */
function decorated(node: Node): (Node | null)[] {
  return children(node).map((child) =>
    child.type === 'function_definition' ? child.childForFieldName('parameters') : child,
  );
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
