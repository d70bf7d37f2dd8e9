import { createHash, randomBytes } from 'node:crypto';
import { cp, lstat, mkdir, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';

/** What is copied out of the extension: everything that Python processes import. */
const parts = ['agent', 'simulator'];

/**
 * Puts the agent and the simulator into `storage`, under a path that stays the same from version to version, and
 * returns that path: terminals keep the path they were started with, and the extension's own folder changes its name
 * with every update. The path is a link that is switched in one step, so no Python ever sees half a copy.
 * @throws when the storage folder cannot be written.
 */
export async function installHome(dist: string, storage: string): Promise<string> {
  const home = path.join(storage, 'home');
  const folder = `home-${await fingerprint(dist)}`;
  const target = path.join(storage, folder);
  await mkdir(storage, { recursive: true });
  if (!(await exists(target))) {
    const fresh = `${target}.${randomBytes(4).toString('hex')}`;
    for (const part of parts) await cp(path.join(dist, part), path.join(fresh, part), { recursive: true });
    await rename(fresh, target).catch(async (error: unknown) => {
      // A second window was faster.
      await rm(fresh, { recursive: true, force: true });
      if (!(await exists(target))) throw error;
    });
  }
  if ((await readlink(home).catch(() => null)) !== target) {
    const link = `${home}.${randomBytes(4).toString('hex')}`;
    // "junction" needs no special right on Windows; elsewhere the word is ignored.
    await symlink(target, link, 'junction');
    if (process.platform === 'win32') await rm(home, { recursive: true, force: true });
    await rename(link, home);
  }
  await removeOthers(storage, folder);
  return home;
}

/** Changes when a file's name, size or time does. */
async function fingerprint(dist: string): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts) {
    const names = await readdir(path.join(dist, part), { recursive: true });
    for (const name of names.sort()) {
      const { size, mtimeMs } = await stat(path.join(dist, part, name));
      hash.update(`${part}/${name}\0${size}\0${mtimeMs}\n`);
    }
  }
  return hash.digest('hex').slice(0, 12);
}

async function removeOthers(storage: string, keep: string): Promise<void> {
  for (const name of await readdir(storage)) {
    if (/^home-[0-9a-f]{12}$/.test(name) && name !== keep) {
      await rm(path.join(storage, name), { recursive: true, force: true });
    }
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch {
    return false;
  }
}
