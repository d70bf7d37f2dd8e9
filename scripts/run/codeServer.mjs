import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ensureCodeServer } from '../setup/codeServer.mjs';
import { Missing } from '../setup/missing.mjs';
import { cache } from '../setup/paths.mjs';
import { start } from './processes.mjs';

/** What keeps VS Code from talking to the network, and from covering the panel. */
const quiet = {
  'chat.disableAIFeatures': true,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'git.openRepositoryInParentFolders': 'never',
  'terminal.integrated.enablePersistentSessions': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
};

/** Settings that name `python` as the one the extension's commands run scripts with. */
export const interpreterSettings = (python) => ({ 'vramLens.python.interpreter': python });

/** Time for the server to answer for the first time, in seconds. */
const startLimit = 120;

/**
 * Starts the browser-based VS Code with folders of its own below `home` (its HOME too, so that nothing of the user's
 * is read or changed) and waits until it answers: `{url, runtime}`.
 * @param machineSettings those of the machine, where VS Code looks for paths.
 */
export async function startCodeServer({
  home,
  port,
  machineSettings = {},
  env = {},
  vscodeOptions = [],
  vsix = null,
  log,
}) {
  const { node, entry } = await ensureCodeServer();
  const user = path.join(home, 'user-data');
  const extensions = path.join(home, 'extensions');
  const runtime = path.join(home, 'run');
  await mkdir(extensions, { recursive: true });
  await mkdir(runtime, { recursive: true, mode: 0o700 });
  await writeSettings(path.join(user, 'User'), quiet);
  await writeSettings(path.join(user, 'Machine'), machineSettings);
  const folders = ['--user-data-dir', user, '--extensions-dir', extensions];
  const environment = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, 'config'),
    XDG_DATA_HOME: path.join(home, 'data'),
    // Compiled parts of the simulator are kept for the next time.
    XDG_CACHE_HOME: path.dirname(cache),
    XDG_RUNTIME_DIR: runtime,
    ...env,
  };
  if (vsix !== null) {
    await promisify(execFile)(node, [entry, ...folders, '--install-extension', vsix], { env: environment });
  }
  const child = start(
    node,
    [
      ...[entry, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, ...folders],
      ...['--config', path.join(home, 'code-server.yaml')],
      ...[
        '--disable-telemetry',
        '--disable-update-check',
        '--disable-workspace-trust',
        '--disable-getting-started-override',
      ],
      ...vscodeOptions.flatMap((option) => ['--vscode-option', option]),
    ],
    { env: environment, stdio: ['ignore', log, log] },
  );
  const url = `http://127.0.0.1:${port}`;
  await answers(url, child);
  return { url, runtime };
}

/** Makes a folder that VS Code takes settings from. */
export async function writeSettings(folder, settings) {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify(settings, null, 2));
}

async function answers(url, child) {
  const deadline = Date.now() + startLimit * 1000;
  for (;;) {
    if (child.exitCode !== null)
      throw new Missing(`The browser-based VS Code ended at once with code ${child.exitCode}.`);
    const ok = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) }).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (Date.now() > deadline) throw new Missing(`The browser-based VS Code did not answer within ${startLimit} s.`);
    await sleep(200);
  }
}
