import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseSocketName, type Here, type SocketOrigin } from './socketName';

export interface SocketEntry {
  path: string;
  tokenPath: string;
  origin: SocketOrigin;
}

/** The folders agents put their sockets into, whether they exist or not: the private runtime folder and `/tmp`. */
export function socketFolders(env: NodeJS.ProcessEnv, uid: number): string[] {
  const runtime = env['XDG_RUNTIME_DIR'];
  const folders = [`/tmp/vram-lens-${uid}`];
  if (runtime !== undefined && path.isAbsolute(runtime)) folders.unshift(path.join(runtime, 'vram-lens'));
  return folders;
}

/**
 * The sockets in `folder` that were made on this host since its last start. A folder that is not a plain folder of
 * ours with mode 0700 counts as empty: `/tmp` is everybody's, and another user could have made it to impersonate
 * sessions.
 */
export async function listSockets(folder: string, uid: number, here: Here): Promise<SocketEntry[]> {
  if (!(await isPrivateFolder(folder, uid))) return [];
  let names: string[];
  try {
    names = await readdir(folder);
  } catch {
    return [];
  }
  const sockets: SocketEntry[] = [];
  for (const name of names) {
    const origin = parseSocketName(name);
    if (origin === null || origin.host !== here.host || origin.boot !== here.boot) continue;
    const socketPath = path.join(folder, name);
    sockets.push({ path: socketPath, tokenPath: socketPath.replace(/\.sock$/, '.token'), origin });
  }
  return sockets;
}

/** Whether `folder` is a real folder (no link) that belongs to `uid` and that nobody else may enter. */
export async function isPrivateFolder(folder: string, uid: number): Promise<boolean> {
  try {
    const stat = await lstat(folder);
    return stat.isDirectory() && stat.uid === uid && (stat.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
