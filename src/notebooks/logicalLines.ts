/** Where a logical line of Python ends: the offset after its line break, or the end of the text. */
export function logicalLineEnd(source: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < source.length) {
    const character = source[at] as string;
    switch (character) {
      case '\\':
        at += source.startsWith('\r\n', at + 1) ? 3 : 2;
        continue;
      case '#':
        at = lineBreak(source, at);
        continue;
      case '"':
      case "'":
        at = stringEnd(source, at, character);
        continue;
      case '(':
      case '[':
      case '{':
        depth++;
        break;
      case ')':
      case ']':
      case '}':
        depth = Math.max(0, depth - 1);
        break;
      case '\n':
        if (depth === 0) return at + 1;
        break;
    }
    at++;
  }
  return source.length;
}

/** The offset of the line break at or after `at`, or the end of the text. */
export function lineBreak(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}

/** The offset after a string that opens at `at`. One in single quotes that nobody closes ends with its line. */
function stringEnd(source: string, at: number, quote: string): number {
  const long = source.startsWith(quote.repeat(3), at);
  const close = long ? quote.repeat(3) : quote;
  for (let next = at + close.length; next < source.length; next++) {
    if (source[next] === '\\') next++;
    else if (source.startsWith(close, next)) return next + close.length;
    else if (!long && source[next] === '\n') return next;
  }
  return source.length;
}
