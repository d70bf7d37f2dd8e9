import { readFileSync, statSync } from 'node:fs';
import { text, type Text } from '../../analysis/finding';
import { readNotebook, type NotRead } from '../../notebooks/notebook';
import { decodePython, decodeUtf8 } from '../../pythonFiles/decode';
import { NotebookDocument, PythonDocument, type Document } from './document';
import { largestNotebook, largestPython } from './limits';

const mebibyte = 1024 * 1024;

export interface ReadFile {
  document: Document;
  encode: (text: string) => Uint8Array | null;
}

/** Why there is nothing to check; `failed` as in `SkippedFile`. */
export interface NotReadable {
  reason: Text;
  failed: boolean;
}

/** Reads a file; a notebook by its ending. */
export function readSource(file: string): ReadFile | NotReadable {
  const isNotebook = file.toLowerCase().endsWith('.ipynb');
  try {
    const limit = isNotebook ? largestNotebook : largestPython;
    if (statSync(file).size > limit * mebibyte) return tooLarge(limit);
    const bytes = readFileSync(file);
    return isNotebook ? notebook(bytes) : python(bytes);
  } catch (error) {
    return { reason: reasonOf(error), failed: true };
  }
}

/** Reads standard input: a notebook when it is the JSON of one, else Python. */
export function readBytes(bytes: Uint8Array): ReadFile | NotReadable {
  if (Buffer.from(bytes.subarray(0, 100)).toString('latin1').trimStart().startsWith('{')) {
    const read = notebook(bytes);
    if ('document' in read) return read;
  }
  return bytes.length > largestPython * mebibyte ? tooLarge(largestPython) : python(bytes);
}

/** Why the file system does not give a file. */
export function reasonOf(error: unknown): Text {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return text('it is not there');
  if (code === 'EACCES' || code === 'EPERM') return text('it may not be read: no permission');
  return text('it cannot be read: {0}', code);
}

function tooLarge(limit: number): NotReadable {
  return { reason: text('larger than the limit of {0} MiB', String(limit)), failed: true };
}

function python(bytes: Uint8Array): ReadFile | NotReadable {
  const decoded = decodePython(bytes);
  if (!('encode' in decoded)) return { reason: decoded, failed: true };
  return { document: new PythonDocument(decoded.text), encode: decoded.encode };
}

function notebook(bytes: Uint8Array): ReadFile | NotReadable {
  const decoded = decodeUtf8(bytes);
  if (decoded === null) return { reason: text('no notebook: not UTF-8'), failed: true };
  const read = readNotebook(decoded.text);
  if ('reason' in read) return notRead(read);
  const document = new NotebookDocument(read);
  if (document.python.length > largestPython * mebibyte) return tooLarge(largestPython);
  return { document, encode: decoded.encode };
}

function notRead(why: NotRead): NotReadable {
  switch (why.reason) {
    case 'json':
      return { reason: text('no notebook: its JSON is malformed at line {0}', String(why.line)), failed: true };
    case 'shape':
      return { reason: text('no notebook of nbformat 3 or 4'), failed: true };
    case 'language':
      return { reason: text('its kernel runs {0}, not Python', why.language), failed: false };
  }
}
