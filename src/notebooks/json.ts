/**
 * JSON with the place of every value, so that a change can replace one value and leave all other bytes alone. Reads what
 * Python's `json` writes, `NaN` and `Infinity` included.
 */
export interface JsonValue {
  kind: 'object' | 'array' | 'string' | 'other';
  /** Of the whole literal in the text, quotes and brackets included. */
  start: number;
  end: number;
  /** Of an object, the first of each key. */
  members: ReadonlyMap<string, JsonValue>;
  /** Of an array. */
  items: readonly JsonValue[];
}

/** The text is no JSON; `offset` is where that shows. */
export class JsonError extends Error {
  constructor(readonly offset: number) {
    super(`no JSON at ${offset}`);
  }
}

/** Notebooks nest a handful of levels; deeper text is not one, and would end the stack. */
const deepest = 400;
const nothing: { members: ReadonlyMap<string, JsonValue>; items: readonly JsonValue[] } = {
  members: new Map(),
  items: [],
};

/** @throws JsonError */
export function readJson(text: string): JsonValue {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.expectEnd();
  return value;
}

/** What a string literal says. */
export function stringOf(text: string, value: JsonValue): string {
  return JSON.parse(text.slice(value.start, value.end)) as string;
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  value(depth: number): JsonValue {
    this.space();
    const start = this.at;
    if (depth > deepest) throw new JsonError(start);
    switch (this.text[start]) {
      case '{':
        return { kind: 'object', start, ...nothing, members: this.members(depth), end: this.at };
      case '[':
        return { kind: 'array', start, ...nothing, items: this.items(depth), end: this.at };
      case '"':
        this.string();
        return { kind: 'string', start, end: this.at, ...nothing };
      default:
        this.token(/-?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|Infinity)|NaN|true|false|null/y);
        return { kind: 'other', start, end: this.at, ...nothing };
    }
  }

  expectEnd(): void {
    this.space();
    if (this.at < this.text.length) throw new JsonError(this.at);
  }

  private members(depth: number): Map<string, JsonValue> {
    const members = new Map<string, JsonValue>();
    this.list('}', () => {
      const start = this.at;
      this.string();
      const key = JSON.parse(this.text.slice(start, this.at)) as string;
      this.space();
      this.token(/:/y);
      const value = this.value(depth + 1);
      if (!members.has(key)) members.set(key, value);
    });
    return members;
  }

  private items(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.list(']', () => items.push(this.value(depth + 1)));
    return items;
  }

  /** What stands between the bracket here and `close`, separated by commas. */
  private list(close: string, read: () => void): void {
    this.at++;
    this.space();
    if (this.text[this.at] !== close) {
      for (;;) {
        read();
        this.space();
        if (this.text[this.at] !== ',') break;
        this.at++;
        this.space();
      }
    }
    if (this.text[this.at] !== close) throw new JsonError(this.at);
    this.at++;
  }

  /** Pictures in outputs are strings of megabytes: looked through for the quote, not matched. */
  private string(): void {
    const start = this.at;
    if (this.text[start] !== '"') throw new JsonError(start);
    let close = this.text.indexOf('"', start + 1);
    while (close >= 0 && this.isEscaped(close)) close = this.text.indexOf('"', close + 1);
    if (close < 0) throw new JsonError(start);
    this.at = close + 1;
  }

  private isEscaped(quote: number): boolean {
    let backslashes = 0;
    while (this.text[quote - 1 - backslashes] === '\\') backslashes++;
    return backslashes % 2 === 1;
  }

  private token(pattern: RegExp): void {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) throw new JsonError(this.at);
    this.at = pattern.lastIndex;
  }

  private space(): void {
    while (' \t\n\r'.includes(this.text[this.at] ?? '-')) this.at++;
  }
}
