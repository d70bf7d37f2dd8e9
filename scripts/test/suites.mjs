import { existsSync } from 'node:fs';
import path from 'node:path';
import { ensureChromium } from '../setup/chromium.mjs';
import { ensureCodeServer } from '../setup/codeServer.mjs';
import { ensureCompiler } from '../setup/compiler.mjs';
import { Missing } from '../setup/missing.mjs';
import { root } from '../setup/paths.mjs';
import { ensurePreCommit } from '../setup/preCommit.mjs';
import { ensurePython } from '../setup/python.mjs';

const node = process.execPath;
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');

/**
 * A suite: `needs` answers what `command(needs, resultFile)` wants, or throws Missing; the command writes its counts as
 * JSON into the result file (`read` makes `{passed, failed, skipped}` of them). Two suites run at a time, one of each
 * lane; those of the lane "editor" have a browser and a server of their own. `limit` is in seconds and far
 * above what the suite takes, so that only one that hangs meets it, not one on a busy machine.
 */
function vitestSuite(name, config, { lane, limit, needs = async () => ({}) }) {
  return {
    ...{ name, lane, limit, needs },
    command: (_, result) => [
      node,
      [vitest, 'run', '--config', config, '--reporter=default', '--reporter=json', `--outputFile.json=${result}`],
    ],
    environment: (needed) => needed,
    read: (json) => ({
      passed: json.numPassedTests,
      failed: json.numFailedTests,
      skipped: json.numPendingTests + json.numTodoTests,
    }),
  };
}

function unittestSuite(name, { limit, needs }) {
  return {
    ...{ name, lane: 'code', limit },
    needs: async () => {
      await needs?.();
      return { python: await ensurePython() };
    },
    command: ({ python }, result) => [
      python,
      [path.join(root, 'scripts/test/unittest_counts.py'), path.join(root, 'test', name), result],
    ],
    environment: () => ({}),
    read: (json) => json,
  };
}

async function editorNeeds() {
  await ensureChromium();
  await ensureCodeServer();
  ensureCompiler(); // the simulator's extension
  return { VRAM_LENS_PYTHON: await ensurePython() };
}

async function commandsNeeds() {
  return { ...(await editorNeeds()), VRAM_LENS_PRE_COMMIT: await ensurePreCommit() };
}

async function proofsNeeds() {
  if (process.platform === 'win32') throw new Missing('The proofs of fixes fork processes, which Windows cannot.');
  return { VRAM_LENS_PYTHON: await ensurePython() };
}

/** Every suite of the project, in the order in which each lane runs them. */
export const suites = [
  vitestSuite('unit', 'vitest.config.mjs', { lane: 'code', limit: 600 }),
  vitestSuite('webview', 'test/webview/vitest.config.mjs', {
    ...{ lane: 'code', limit: 500 },
    needs: async () => void (await ensureChromium()),
  }),
  vitestSuite('native', 'test/native/vitest.config.mjs', {
    ...{ lane: 'code', limit: 500 },
    needs: async () => ensureCompiler(),
  }),
  unittestSuite('agent', { limit: 600 }),
  unittestSuite('simulator', { limit: 800, needs: ensureCompiler }),
  vitestSuite('proofs', 'test/proofs/vitest.config.mjs', { lane: 'code', limit: 1500, needs: proofsNeeds }),
  vitestSuite('commands', 'test/commands/vitest.config.mjs', { lane: 'editor', limit: 500, needs: commandsNeeds }),
  {
    ...{ name: 'integration', lane: 'editor', limit: 500, needs: editorNeeds },
    command: (_, result) => [node, [path.join(root, 'test/integration/run.mjs'), result]],
    environment: (needed) => needed,
    read: (json) => json,
  },
  vitestSuite('e2e', 'test/e2e/vitest.config.mjs', { lane: 'editor', limit: 800, needs: editorNeeds }),
].filter(({ name }) => existsSync(path.join(root, 'test', name)));
