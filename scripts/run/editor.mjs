import { execFile } from 'node:child_process';
import { openSync } from 'node:fs';
import path from 'node:path';
import { ask } from '../setup/execute.mjs';
import { root } from '../setup/paths.mjs';
import { interpreterSettings, startCodeServer, writeSettings } from './codeServer.mjs';
import { freePort } from './port.mjs';
import { start } from './processes.mjs';
import { packVsix } from './vsix.mjs';

/** Whether a window can be shown. */
const hasDisplay =
  ['darwin', 'win32'].includes(process.platform) || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);

/** Whether the desktop VS Code can be started. Inside a remote window `code` only talks to that window. */
function hasDesktop() {
  return hasDisplay && !process.env.VSCODE_IPC_HOOK_CLI && ask('code', ['--version']) !== null;
}

/**
 * Opens VS Code with the extension and `folder`, with settings of its own below `home`: the desktop one where it is
 * there, else the browser-based one. Its commands run scripts with `python`. Answers what to tell the user.
 * @param port of the browser-based one; null: any free one.
 */
export async function openEditor({ folder, home, port, python }) {
  if (hasDesktop()) {
    const user = path.join(home, 'user-data');
    await writeSettings(path.join(user, 'User'), interpreterSettings(python));
    start(
      'code',
      [
        ...['--new-window', '--wait', '--disable-workspace-trust', '--user-data-dir', user],
        ...[`--extensionDevelopmentPath=${root}`, folder],
      ],
      { stdio: 'ignore', shell: process.platform === 'win32' },
    );
    return 'VS Code opens in a window.';
  }
  const server = await startCodeServer({
    ...{ home, port: port ?? (await freePort()), vsix: await packVsix() },
    machineSettings: interpreterSettings(python),
    // The sessions of this machine are looked for where its own terminals put them.
    env: { XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR },
    log: openSync(path.join(home, 'code-server.log'), 'w'),
  });
  const url = `${server.url}/?folder=${encodeURI(folder)}`;
  if (hasDisplay) execFile(process.platform === 'darwin' ? 'open' : 'xdg-open', [url], () => {});
  return `VS Code: ${url}`;
}
