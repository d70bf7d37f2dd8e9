import { text, type Edit, type Fix, type Text } from '../finding';
import { exitOf } from '../flow/exits';
import { namesAt } from '../flow/names';
import { isInside } from '../flow/within';
import { bindsInEveryRound, isCertainlyBound } from '../rules/lifetimes';
import type { Node } from '../syntax/node';
import { children } from '../syntax/parser';
import { namesIn } from '../syntax/statements';
import type { Interpreted } from '../values/interpret';
import { additions } from './statementLines';

/**
 * Statements that let go of names: `del a, b`, and `c = None` for what a loop without a round has not bound, which `del`
 * would raise an error for.
 */
export function lettingGo(names: readonly string[], isBound: (name: string) => boolean): string[] {
  const bound = names.filter(isBound);
  const others = names.filter((name) => !isBound(name));
  return [
    ...(bound.length > 0 ? [`del ${bound.join(', ')}`] : []),
    ...(others.length > 0 ? [`${others.join(' = ')} = None`] : []),
  ];
}

/** Statements that let go of names, on lines of their own before another one. */
export function letGoBefore(statement: Node, lines: readonly string[], source: string): Fix {
  return {
    ...{ title: text('Let go of them first: {0}', lines.join('; ')), safe: true },
    edits: lines.length === 0 ? [] : [linesBefore(statement, lines, source)],
  };
}

/** Statements that let go of names, behind the last one of a loop's round; null where control does not come there. */
export function letGoAtEnd(
  loop: Node,
  names: readonly string[],
  titled: (lines: string) => Text,
  one: Interpreted,
  source: string,
): Fix | null {
  const body = loop.childForFieldName('body');
  const last = body === null ? undefined : children(body).at(-1);
  const exit = last === undefined ? null : exitOf(last, one);
  const point = last === undefined ? undefined : one.graph.at.get(last.id);
  if (last === undefined || exit === null) return null;
  const behind = exitOf(loop, one);
  const anew = names.filter((name) => exit.live.has(name)).map((name) => boundByInnerLoop(name, loop, one));
  if (anew.includes(null) || names.some((name) => behind?.live.has(name))) return null;
  const isSafe = anew.every((inner) => /^range\(/.test(inner?.childForFieldName('right')?.text ?? ''));
  const isBound = (name: string): boolean =>
    exit.bound.has(name) || (point !== undefined && isCertainlyBound(name, point, one));
  const lines = lettingGo(names, isBound);
  const edit = additions(last, lines, source);
  return edit === null ? null : { title: titled(lines.join('; ')), safe: isSafe, edits: [edit] };
}

/**
 * The loop in each round of another one that binds a name before anything there reads it. That a round of it may leave
 * the name as it was is why the name counts as read: what it goes over does not change from round to round, so it runs
 * no round at all then.
 */
function boundByInnerLoop(name: string, loop: Node, { graph }: Interpreted): Node | null {
  const names = namesAt(graph);
  const inside = graph.points.flatMap(({ syntax }, id) => (isInside(syntax, loop) ? [{ syntax, at: names[id] }] : []));
  const first = inside.find(({ at }) => at?.reads.has(name) === true || at?.writes.has(name) === true);
  const body = loop.childForFieldName('body');
  const inner = (body === null ? [] : children(body)).find(
    (one) => first !== undefined && isInside(first.syntax, one) && bindsInEveryRound(one, name),
  );
  const over = inner?.childForFieldName('right');
  if (inner === undefined || !over || first?.at?.reads.has(name) === true) return null;
  const changes = namesIn(over).some((read) => inside.some(({ at }) => at?.writes.has(read) === true));
  return changes ? null : inner;
}

/** Lines before a statement, indented as it is and with the file's line ends. */
export function linesBefore(statement: Node, lines: readonly string[], source: string): Edit {
  const start = source.lastIndexOf('\n', statement.startIndex - 1) + 1;
  const indent = /^[ \t]*/.exec(source.slice(start, statement.startIndex))?.[0] ?? '';
  const end = source.slice(0, start).endsWith('\r\n') ? '\r\n' : '\n';
  return { start, end: start, newText: lines.map((line) => `${indent}${line}${end}`).join('') };
}
