import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests of `npm start` and of how scripts/ cleans up; they start real processes, one file after another. */
export default defineConfig({
  cacheDir: '../../node_modules/.vite-commands',
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 200_000,
  },
});
