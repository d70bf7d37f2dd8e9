import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

/** What `run.mjs`, outside the editor, reads when the suite has ended. */
interface Results {
  passed: number;
  failed: number;
  skipped: number;
}

/** VS Code calls this inside the extension host, in place of a test runner; a rejection becomes exit code 1. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 60_000, color: false, reporter: 'spec' });
  for (const name of readdirSync(__dirname)) {
    if (name.endsWith('.test.js')) mocha.addFile(path.join(__dirname, name));
  }
  const results: Results = { passed: 0, failed: 0, skipped: 0 };
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on('pass', () => results.passed++);
    runner.on('fail', () => results.failed++);
    runner.on('pending', () => results.skipped++);
  });
  writeFileSync(path.join(__dirname, 'results.json'), JSON.stringify(results));
  if (results.failed > 0) throw new Error(`${results.failed} failed`);
}
