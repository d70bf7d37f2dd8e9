export type Paint = (text: string) => string;

/** Colours for a terminal. */
export interface Colours {
  bold: Paint;
  dim: Paint;
  red: Paint;
  yellow: Paint;
  cyan: Paint;
}

/** Colours only where they are seen: on a terminal that has them, and whose user does not refuse them (no-color.org). */
export function coloursFor(isTerminal: boolean, env: NodeJS.ProcessEnv): Colours {
  const refused = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const paint = (on: number, off: number): Paint =>
    isTerminal && !refused ? (text) => `\x1b[${on}m${text}\x1b[${off}m` : (text) => text;
  return { bold: paint(1, 22), dim: paint(2, 22), red: paint(31, 39), yellow: paint(33, 39), cyan: paint(36, 39) };
}
