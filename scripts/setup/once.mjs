import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Fills `folder` by `build(folder)` unless that was finished before. A stamp written last marks a finished folder, so
 * an interrupted build starts over; a lock beside it lets a second process wait for the first instead of building too.
 */
export async function once(folder, build) {
  const stamp = path.join(folder, '.complete');
  if (existsSync(stamp)) return folder;
  await mkdir(path.dirname(folder), { recursive: true });
  const unlock = await lock(`${folder}.lock`);
  try {
    if (existsSync(stamp)) return folder;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await build(folder);
    await writeFile(stamp, '');
    return folder;
  } finally {
    await unlock();
  }
}

/** Waits for the lock file and answers the function that gives it back. A lock whose process is gone is taken over. */
async function lock(file) {
  const me = String(process.pid);
  for (let told = false; ;) {
    try {
      await writeFile(file, me, { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = await readFile(file, 'utf8').catch(() => '');
    if (owner !== '' && !isAlive(Number(owner))) {
      // Of several who see the same dead owner the last rename wins, and only the winner reads its own number back.
      await writeFile(`${file}.${me}`, me);
      await rename(`${file}.${me}`, file);
      await sleep(300);
      if ((await readFile(file, 'utf8').catch(() => '')) === me) break;
    }
    if (!told) console.log(`Waiting for another process that prepares ${path.basename(file, '.lock')} …`);
    told = true;
    await sleep(500);
  }
  return () => rm(file, { force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
