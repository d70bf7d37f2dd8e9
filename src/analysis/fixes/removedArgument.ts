import type { Edit } from '../finding';
import type { Node } from '../syntax/node';

/** Takes an argument away with the comma that goes with it. */
export function removedArgument({ startIndex, endIndex }: Node, source: string): Edit {
  const before = /,\s*$/.exec(source.slice(0, startIndex))?.[0].length ?? 0;
  const after = before > 0 ? 0 : (/^\s*,\s*/.exec(source.slice(endIndex))?.[0].length ?? 0);
  return { start: startIndex - before, end: endIndex + after, newText: '' };
}

/** Takes `retain_graph=True` out of a call that need not retain its graph once a fix has cut it off. */
export function withoutRetain(call: Node, source: string): Edit[] {
  const list = call.childForFieldName('arguments')?.children ?? [];
  return list
    .filter((one) => one.type === 'keyword_argument' && one.childForFieldName('name')?.text === 'retain_graph')
    .map((argument) => removedArgument(argument, source));
}
