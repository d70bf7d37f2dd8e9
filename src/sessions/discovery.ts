import { watch, type FSWatcher } from 'node:fs';
import { listSockets, socketFolders, type SocketEntry } from './socketFolders';
import { readHere, type Here } from './socketName';

/** New sockets are noticed by the folder's own events; this is for folders made later and file systems without events. */
const pollMs = 500;

/** Looks for agents' sockets while it runs and hands over the whole list at every look. */
export class SocketDiscovery {
  private readonly folders: string[];
  private readonly watchers = new Map<string, FSWatcher>();
  private timer: NodeJS.Timeout | null = null;
  private looking = false;
  private lookAgain = false;
  private looks = 0;

  constructor(
    private readonly found: (sockets: SocketEntry[]) => void,
    private readonly uid = process.getuid?.() ?? -1,
    folders = socketFolders(process.env, uid),
    private readonly here: Here = readHere(),
  ) {
    this.folders = folders;
  }

  get pidNamespace(): string {
    return this.here.pidNamespace;
  }

  /** Whether the folders were looked through at least once since `start`. */
  get hasLooked(): boolean {
    return this.looks > 0;
  }

  start(): void {
    if (this.timer !== null) return;
    this.timer = setInterval(() => void this.look(), pollMs);
    void this.look();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.looks = 0;
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private async look(): Promise<void> {
    if (this.looking) {
      this.lookAgain = true;
      return;
    }
    this.looking = true;
    do {
      this.lookAgain = false;
      const lists = await Promise.all(this.folders.map((folder) => listSockets(folder, this.uid, this.here)));
      if (this.timer === null) break;
      for (const folder of this.folders) this.watchFolder(folder);
      this.found(lists.flat());
      this.looks++;
    } while (this.lookAgain);
    this.looking = false;
  }

  private watchFolder(folder: string): void {
    if (this.watchers.has(folder)) return;
    try {
      const watcher = watch(folder, () => void this.look());
      const forget = (): void => {
        watcher.close();
        this.watchers.delete(folder);
      };
      watcher.on('error', forget);
      this.watchers.set(folder, watcher);
    } catch {
      // Not there yet, or out of inotify watches: the poll goes on.
    }
  }
}
