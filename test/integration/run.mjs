// Runs the Mocha suite of this folder inside the extension host of a real VS Code:
// `node test/integration/run.mjs [RESULT]`; RESULT gets the counts as JSON.
import { createWriteStream, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { launchBrowser } from '../../scripts/run/browser.mjs';
import { startCodeServer } from '../../scripts/run/codeServer.mjs';
import { freePort } from '../../scripts/run/port.mjs';
import { stopAll } from '../../scripts/run/processes.mjs';
import { temporaryFolder } from '../../scripts/run/temporaryFolder.mjs';
import { runMain } from '../../scripts/setup/missing.mjs';
import { out, root } from '../../scripts/setup/paths.mjs';

/** Time for the whole suite, the first load of the workbench included, in seconds. */
const limit = 400;
const here = path.join(root, 'test/integration');
const folder = path.join(out, 'integration');

async function main() {
  rmSync(folder, { recursive: true, force: true });
  await bundleTests();
  const home = temporaryFolder('vli-');
  try {
    const server = await startCodeServer({
      ...{ home, port: await freePort(), vscodeOptions: ['enable-smoke-test-driver'] },
      log: openSync(path.join(folder, 'code-server.log'), 'w'),
    });
    const code = await runInBrowser(server.url, home);
    const counts = report();
    if (process.argv[2] !== undefined) writeFileSync(process.argv[2], JSON.stringify(counts));
    process.exitCode = code;
  } finally {
    await stopAll();
  }
}

/** One bundle per file, so that Mocha can load them one by one. */
async function bundleTests() {
  const files = readdirSync(here).filter((name) => name.endsWith('.ts'));
  await esbuild.build({
    entryPoints: files.map((name) => path.join(here, name)),
    ...{ outdir: folder, bundle: true, platform: 'node', target: 'node20', format: 'cjs', sourcemap: 'inline' },
    external: ['vscode', 'mocha'],
  });
}

/** Opens the workbench with the suite as its test runner and answers the suite's exit code. */
async function runInBrowser(url, home) {
  const browser = await launchBrowser(home);
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  let finish;
  const exit = new Promise((resolve) => (finish = resolve));
  const log = createWriteStream(path.join(folder, 'workbench.log'));
  await page.exposeFunction('codeAutomationLog', (_type, args) => void log.write(`${[args].flat().join(' ')}\n`));
  await page.exposeFunction('codeAutomationExit', (code) => finish(code));
  // Only the smoke-test switch makes the built product honour a development payload.
  const remote = (file) => `vscode-remote://${new URL(url).host}${file}`;
  const payload = [
    ['extensionDevelopmentPath', remote(root)],
    ['extensionTestsPath', remote(path.join(folder, 'suite.js'))],
    ['skipWelcome', 'true'],
  ];
  const workspace = encodeURIComponent(path.join(root, 'samples'));
  await page.goto(`${url}/?folder=${workspace}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
  const timer = setTimeout(() => {
    console.log(`The suite did not end within ${limit} s; see out/integration/workbench.log.`);
    finish(124);
  }, limit * 1000);
  const code = await exit;
  clearTimeout(timer);
  await browser.close();
  log.end();
  return code;
}

/** Prints each test's line and answers the counts. */
function report() {
  const { passed, failed, skipped } = JSON.parse(readFileSync(path.join(folder, 'results.json'), 'utf8'));
  for (const title of passed) console.log(`ok       ${title}`);
  for (const title of skipped) console.log(`skipped  ${title}`);
  for (const { title, error } of failed) console.log(`FAILED   ${title}\n${error}`);
  return { passed: passed.length, failed: failed.length, skipped: skipped.length };
}

await runMain(main);
