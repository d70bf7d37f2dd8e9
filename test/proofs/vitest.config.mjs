import { defineConfig } from 'vitest/config';

/** All scripts run before the first test, two at a time. */
export default defineConfig({
  cacheDir: 'node_modules/.vite-proofs',
  test: { include: ['test/proofs/**/*.test.ts'], hookTimeout: 1_200_000 },
});
