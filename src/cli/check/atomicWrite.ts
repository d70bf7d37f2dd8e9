import { chmodSync, chownSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Writes a file so that it is the old or the new one at any moment. Its mode and owner stay, and so does a link to it. */
export function writeAtomically(file: string, bytes: Uint8Array): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  const beside = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`);
  try {
    writeFileSync(beside, bytes, { flag: 'wx' });
    if (existsSync(target)) {
      const { mode, uid, gid } = statSync(target);
      chmodSync(beside, mode);
      // Root fixes other people's files; everyone else owns what they write.
      if (process.getuid?.() === 0) chownSync(beside, uid, gid);
    }
    renameSync(beside, target);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}
