import { defineConfig } from 'vitest/config';

/** Each test runs a Python process for one script and its fixed versions; two at a time. */
export default defineConfig({
  cacheDir: 'node_modules/.vite-proofs',
  test: { include: ['test/proofs/**/*.test.ts'], testTimeout: 120_000, maxConcurrency: 2 },
});
