// Runs the Mocha suite of this folder inside the extension host of a real VS Code: `node test/integration/run.mjs`.
// Leaves out/integration/results.json; TESTING notes: the development payload is honoured because of the smoke-test switch.
import { mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { launchBrowser } from '../../scripts/run/browser.mjs';
import { startCodeServer } from '../../scripts/run/codeServer.mjs';
import { freePort } from '../../scripts/run/port.mjs';
import { stopAll } from '../../scripts/run/processes.mjs';
import { runMain } from '../../scripts/setup/missing.mjs';
import { out, root } from '../../scripts/setup/paths.mjs';

/** Time for the whole suite, the first load of the workbench included, in seconds. */
const limit = 240;

async function main() {
  const here = path.join(root, 'test/integration');
  const folder = path.join(out, 'integration');
  rmSync(folder, { recursive: true, force: true });
  await esbuild.build({
    entryPoints: readdirSync(here).filter((name) => name.endsWith('.ts')).map((name) => path.join(here, name)),
    ...{ outdir: folder, bundle: true, platform: 'node', target: 'node20', format: 'cjs', sourcemap: 'inline' },
    external: ['vscode', 'mocha'],
  });
  const home = mkdtempSync(path.join(os.tmpdir(), 'vli-'));
  try {
    const server = await startCodeServer({
      ...{ home, port: await freePort(), vscodeOptions: ['enable-smoke-test-driver'] },
      log: openSync(path.join(folder, 'code-server.log'), 'w'),
    });
    process.exitCode = await runInBrowser(server.url, home, path.join(folder, 'suite.js'));
  } finally {
    await stopAll();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Opens the workbench with the suite as its test runner and answers the suite's exit code. */
async function runInBrowser(url, home, suite) {
  const browser = await launchBrowser(home);
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  let finish;
  const exit = new Promise((resolve) => (finish = resolve));
  await page.exposeFunction('codeAutomationLog', (type, args) => console.log(...[args].flat()));
  await page.exposeFunction('codeAutomationExit', (code) => finish(code));
  const remote = (file) => `vscode-remote://${new URL(url).host}${file}`;
  const payload = [
    ['extensionDevelopmentPath', remote(root)],
    ['extensionTestsPath', remote(suite)],
    ['skipWelcome', 'true'],
  ];
  const folder = encodeURIComponent(path.join(root, 'samples'));
  await page.goto(`${url}/?folder=${folder}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
  const timer = setTimeout(() => {
    console.log(`The suite did not end within ${limit} s.`);
    finish(124);
  }, limit * 1000);
  const code = await exit;
  clearTimeout(timer);
  await browser.close();
  return code;
}

await runMain(main);
