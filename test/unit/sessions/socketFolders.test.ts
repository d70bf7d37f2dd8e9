import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listSockets, socketFolders } from '../../../src/sessions/socketFolders';
import { parseSocketName, readHere } from '../../../src/sessions/socketName';
import { socketFolder, socketName } from './fakeAgent';

const uid = process.getuid?.() ?? -1;

describe('socketFolders', () => {
  it('looks into the runtime folder and into /tmp', () => {
    expect(socketFolders({ XDG_RUNTIME_DIR: '/run/user/7' }, 7)).toEqual(['/run/user/7/vram-lens', '/tmp/vram-lens-7']);
    expect(socketFolders({}, 7)).toEqual(['/tmp/vram-lens-7']);
    expect(socketFolders({ XDG_RUNTIME_DIR: 'relative' }, 7)).toEqual(['/tmp/vram-lens-7']);
  });
});

describe('listSockets', () => {
  let base: ReturnType<typeof socketFolder>;
  const here = readHere();
  beforeEach(() => {
    base = socketFolder();
  });
  afterEach(() => base.remove());

  it('finds our sockets by name and ignores everything else', async () => {
    const name = socketName(process.pid);
    for (const file of [name, 'notes.txt', name.replace('.sock', '.token')])
      writeFileSync(path.join(base.path, file), '');
    const sockets = await listSockets(base.path, uid, here);
    expect(sockets.map((entry) => path.basename(entry.path))).toEqual([name]);
    expect(sockets[0]?.origin.pid).toBe(process.pid);
    expect(sockets[0]?.tokenPath).toBe(path.join(base.path, name.replace('.sock', '.token')));
  });

  it('counts a folder that others may enter, that is a link, or that is not ours as empty', async () => {
    const name = socketName(process.pid);
    const open = path.join(base.path, 'open');
    const closed = path.join(base.path, 'closed');
    const link = path.join(base.path, 'link');
    for (const folder of [open, closed]) {
      mkdirSync(folder, { mode: 0o700 });
      writeFileSync(path.join(folder, name), '');
    }
    chmodSync(open, 0o755);
    symlinkSync(closed, link);
    expect(await listSockets(closed, uid, here)).toHaveLength(1);
    expect(await listSockets(open, uid, here)).toEqual([]);
    expect(await listSockets(link, uid, here)).toEqual([]);
    expect(await listSockets(closed, uid + 1, here)).toEqual([]);
    expect(await listSockets(path.join(base.path, 'missing'), uid, here)).toEqual([]);
  });
});

describe('parseSocketName', () => {
  it('takes the five parts', () => {
    expect(parseSocketName('0a1b2c3d-11223344-4026531836-4711-99887.sock')).toEqual({
      host: '0a1b2c3d',
      boot: '11223344',
      pidNamespace: '4026531836',
      pid: 4711,
      start: '99887',
    });
  });

  it.each([
    'a.sock',
    '0a1b2c3d-11223344-1-x-2.sock',
    '../0a1b2c3d-11223344-1-2-3.sock',
    '0a1b2c3d-11223344-1-2-3.sock.bak',
  ])('refuses %s', (name) => expect(parseSocketName(name)).toBeNull());
});
