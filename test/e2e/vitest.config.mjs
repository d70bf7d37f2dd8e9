import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** One server and one browser for all files, which run one after another; the first load of the workbench is slow. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite-e2e',
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['**/*.test.ts'],
    globalSetup: ['./editor.mjs'],
    fileParallelism: false,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 240_000,
    teardownTimeout: 20_000,
  },
});
