import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

/** What `run.mjs`, outside the editor, reads when the suite has ended. */
interface Results {
  passed: string[];
  failed: { title: string; error: string }[];
  skipped: string[];
}

/** VS Code calls this inside the extension host, in place of a test runner; a rejection becomes exit code 1. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 60_000, reporter: 'min' });
  for (const name of readdirSync(__dirname)) {
    if (name.endsWith('.test.js')) mocha.addFile(path.join(__dirname, name));
  }
  const results: Results = { passed: [], failed: [], skipped: [] };
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on('pass', (test) => results.passed.push(test.fullTitle()));
    runner.on('fail', (test, error: Error) =>
      results.failed.push({ title: test.fullTitle(), error: error.stack ?? String(error) }),
    );
    runner.on('pending', (test) => results.skipped.push(test.fullTitle()));
  });
  writeFileSync(path.join(__dirname, 'results.json'), JSON.stringify(results));
  if (results.failed.length > 0) throw new Error(`${results.failed.length} failed`);
}
