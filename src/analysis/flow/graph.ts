import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';

/** One point of the control flow: a simple statement, or the head of a compound one. */
export interface FlowPoint {
  syntax: Node;
  next: number[];
}

export interface FlowGraph {
  points: FlowPoint[];
  entry: number;
}

interface Loop {
  head: number;
  breaks: number[];
}

/** The control-flow graph of a function's body (or a module): branches, loops with else, with, try, match. */
export function flowGraph(body: Node): FlowGraph {
  const builder = new Builder();
  const entry = builder.point(body, []);
  builder.block(body, [entry]);
  return { points: builder.points, entry };
}

class Builder {
  readonly points: FlowPoint[] = [];
  private readonly loops: Loop[] = [];

  point(syntax: Node, from: readonly number[]): number {
    const id = this.points.push({ syntax, next: [] }) - 1;
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
      case 'with_statement':
        return this.block(node.childForFieldName('body'), [this.point(node, from)]);
      case 'try_statement':
        return this.attempt(node, from);
      case 'match_statement':
        return this.match(node, from);
      case 'return_statement':
      case 'raise_statement':
        this.point(node, from);
        return [];
      case 'break_statement':
        this.loops.at(-1)?.breaks.push(...from);
        return [];
      case 'continue_statement':
        this.join(from, this.loops.at(-1)?.head ?? 0);
        return [];
      default:
        return [this.point(node, from)];
    }
  }

  private branches(node: Node, from: number[]): number[] {
    let test = this.point(node, from);
    const exits = this.block(node.childForFieldName('consequence'), [test]);
    let open = true;
    for (const clause of children(node)) {
      if (clause.type === 'elif_clause') {
        test = this.point(clause, [test]);
        exits.push(...this.block(clause.childForFieldName('consequence'), [test]));
      } else if (clause.type === 'else_clause') {
        open = false;
        exits.push(...this.block(clause.childForFieldName('body'), [test]));
      }
    }
    return open ? [...exits, test] : exits;
  }

  private loop(node: Node, from: number[]): number[] {
    const head = this.point(node, from);
    const loop: Loop = { head, breaks: [] };
    this.loops.push(loop);
    this.join(this.block(node.childForFieldName('body'), [head]), head);
    this.loops.pop();
    const otherwise = children(node).find((child) => child.type === 'else_clause');
    const after = this.block(otherwise?.childForFieldName('body') ?? null, [head]);
    return [...after, ...loop.breaks];
  }

  /** Any statement of the body may raise, so every one of its points leads to each handler. */
  private attempt(node: Node, from: number[]): number[] {
    const first = this.points.length;
    const start = this.point(node, from);
    let exits = this.block(node.childForFieldName('body'), [start]);
    const raising = Array.from({ length: this.points.length - first }, (_, index) => first + index);
    const handled: number[] = [];
    let last: Node | null = null;
    for (const clause of children(node)) {
      const body = children(clause).findLast((child) => child.type === 'block') ?? null;
      if (clause.type.startsWith('except')) handled.push(...this.block(body, [this.point(clause, raising)]));
      else if (clause.type === 'else_clause') exits = this.block(body, exits);
      else if (clause.type === 'finally_clause') last = body;
    }
    exits = [...exits, ...handled];
    return last === null ? exits : this.block(last, exits.length > 0 ? exits : raising);
  }

  private match(node: Node, from: number[]): number[] {
    const subject = this.point(node, from);
    const exits = [subject];
    for (const clause of children(node.childForFieldName('body') ?? node)) {
      if (clause.type !== 'case_clause') continue;
      exits.push(...this.block(clause.childForFieldName('consequence'), [this.point(clause, [subject])]));
    }
    return exits;
  }
}
