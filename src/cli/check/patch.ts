import path from 'node:path';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** A patch that `git apply` and `patch -p1` take in the working directory. */
export function patchOf(file: string, before: string, after: string): string {
  const shown = path.relative('', file).replaceAll(path.sep, '/');
  const inside = !shown.startsWith('../') && !path.isAbsolute(shown);
  const [old, now] = inside ? [`a/${shown}`, `b/${shown}`] : [file, file];
  return createTwoFilesPatch(old, now, before, after, undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
  });
}
