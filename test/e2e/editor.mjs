// What the end-to-end tests share: the VSIX, packed and installed into a browser-based VS Code that serves a copy of
// samples/. The tests get `provided.d.ts` of it by vitest's `inject`.
import { cpSync, mkdirSync, openSync, rmSync } from 'node:fs';
import path from 'node:path';
import { interpreterSettings, startCodeServer } from '../../scripts/run/codeServer.mjs';
import { freePort } from '../../scripts/run/port.mjs';
import { stopAll } from '../../scripts/run/processes.mjs';
import { temporaryFolder } from '../../scripts/run/temporaryFolder.mjs';
import { packVsix } from '../../scripts/run/vsix.mjs';
import { ensureChromium } from '../../scripts/setup/chromium.mjs';
import { execute } from '../../scripts/setup/execute.mjs';
import { out, root } from '../../scripts/setup/paths.mjs';
import { ensurePython } from '../../scripts/setup/python.mjs';

export default async function setup(project) {
  const results = path.join(out, 'e2e');
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  // Short: the agents' sockets lie below it.
  const home = temporaryFolder('vle-');
  const workspace = path.join(home, 'samples');
  cpSync(path.join(root, 'samples'), workspace, { recursive: true });
  const python = await ensurePython();
  const [server] = await Promise.all([startServer(home, results, python), prepareSimulator(python, workspace)]);
  project.provide('editor', {
    ...{ url: server.url, home, workspace, results, runtime: server.runtime },
    ...{ root, python, chromium: await ensureChromium() },
  });
  return stopAll;
}

async function startServer(home, results, python) {
  return startCodeServer({
    ...{ home, port: await freePort(), vsix: await packVsix() },
    machineSettings: interpreterSettings(python),
    log: openSync(path.join(results, 'code-server.log'), 'w'),
  });
}

/** The simulated device is compiled at its first use, which takes longer than any condition of the tests may. */
async function prepareSimulator(python, workspace) {
  const script = path.join(workspace, 'train.py');
  const simulate = [path.join(root, 'dist/cli.js'), 'simulate', '--python', python, '--gpu', '1GiB', script];
  await execute(process.execPath, [...simulate, '--', '--device', 'cuda', '--steps', '1'], {
    failure: 'The sample training does not run on the simulated device:',
  });
}
