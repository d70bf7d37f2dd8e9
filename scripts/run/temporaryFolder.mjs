import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A new folder that is removed when this process ends. The prefix is short where sockets lie below. */
export function temporaryFolder(prefix) {
  const folder = mkdtempSync(path.join(os.tmpdir(), prefix));
  process.on('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // A process that was just killed still held a file; /tmp is cleared by the system.
    }
  });
  return folder;
}
