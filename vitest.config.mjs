import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Many of them start processes, and a busy machine takes its time.
  test: { include: ['test/unit/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
