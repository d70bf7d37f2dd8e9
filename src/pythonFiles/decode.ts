import { TextDecoder } from 'node:util';
import { text, type Text } from '../analysis/finding';

/** A file's text without its byte order mark, and how such a text is written to the file again. */
export interface Decoded {
  text: string;
  /** Null when the file's encoding has no bytes for a letter. */
  encode(text: string): Uint8Array | null;
}

/** The cookie of PEP 263, in one of the first two lines. */
const codingLine = /^(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\n|\r))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)/;
const utf8Names = /^(?:utf-?8(?:-sig)?|u8|ascii|us-ascii)$/;
/** Bytes and letters have the same numbers here; the `latin1` of TextDecoder is Windows' variant of it. */
const latin1Names = /^(?:latin-?1|iso-?8859-1|iso-latin-1|l1|cp819)$/;

/** Reads a Python file as Python does: UTF-8, or what its coding line says. The other answer is why it cannot. */
export function decodePython(bytes: Uint8Array): Decoded | Text {
  if (bytes.includes(0)) return text('binary: it has NUL bytes');
  const name = codingLine.exec(
    Buffer.from(bytes.subarray(0, 1000))
      .toString('latin1')
      .replace(/^\xef\xbb\xbf/, ''),
  )?.[1];
  const encoding = (name ?? 'utf-8').toLowerCase().replaceAll('_', '-');
  if (latin1Names.test(encoding)) return latin1(bytes);
  if (name === undefined || utf8Names.test(encoding)) {
    return decodeUtf8(bytes) ?? text('not UTF-8, and without a coding line that says what it is');
  }
  return decodeByTable(bytes, encoding, name);
}

/** Null when the bytes are not UTF-8. A byte order mark is written again. */
export function decodeUtf8(bytes: Uint8Array): Decoded | null {
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const mark = decoded.startsWith('\ufeff') ? '\ufeff' : '';
    return { text: decoded.slice(mark.length), encode: (changed) => Buffer.from(mark + changed, 'utf8') };
  } catch {
    return null;
  }
}

function latin1(bytes: Uint8Array): Decoded {
  return {
    text: Buffer.from(bytes).toString('latin1'),
    encode: (changed) => (/[^\0-\xff]/.test(changed) ? null : Buffer.from(changed, 'latin1')),
  };
}

/** An encoding that Node can only read: letters are written by the bytes that read as them, one or two of them. */
function decodeByTable(bytes: Uint8Array, encoding: string, name: string): Decoded | Text {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(encoding, { fatal: true });
  } catch {
    return text('its coding line names an unknown encoding, "{0}"', name);
  }
  try {
    const decoded = decoder.decode(bytes);
    const encode = (changed: string): Uint8Array | null => encodeByTable(changed, decoder);
    const again = (changed: string): Uint8Array | null => {
      const unchanged = encode(decoded);
      return unchanged !== null && Buffer.compare(unchanged, bytes) === 0 ? encode(changed) : null;
    };
    return { text: decoded, encode: again };
  } catch {
    return text('not in the encoding "{0}" that its coding line names', name);
  }
}

function encodeByTable(changed: string, decoder: TextDecoder): Uint8Array | null {
  const table = bytesOfLetters(decoder);
  const bytes: number[] = [];
  for (const letter of changed) {
    const found = table.get(letter);
    if (found === undefined) return null;
    bytes.push(...found);
  }
  return Uint8Array.from(bytes);
}

function bytesOfLetters(decoder: TextDecoder): Map<string, number[]> {
  const table = new Map<string, number[]>();
  const add = (...bytes: number[]): boolean => {
    try {
      const letter = decoder.decode(Uint8Array.from(bytes));
      if ([...letter].length === 1 && !table.has(letter)) table.set(letter, bytes);
      return true;
    } catch {
      return false;
    }
  };
  for (let first = 0; first < 256; first++) {
    if (add(first)) continue;
    for (let second = 0x30; second < 256; second++) add(first, second);
  }
  return table;
}
