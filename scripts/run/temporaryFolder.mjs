import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const folders = new Set();

/** A new folder that is removed when this process ends. The prefix is short where sockets lie below. */
export function temporaryFolder(prefix) {
  // One listener for all of them: Node warns of a leak at the eleventh listener of one event.
  if (folders.size === 0) process.once('exit', removeAll);
  const folder = mkdtempSync(path.join(os.tmpdir(), prefix));
  folders.add(folder);
  return folder;
}

function removeAll() {
  for (const folder of folders) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // A process that was just killed still held a file; /tmp is cleared by the system.
    }
  }
}
