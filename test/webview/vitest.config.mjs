import { defineConfig } from 'vitest/config';

// The page in a real browser; needs `npm run build` before and Chromium.
export default defineConfig({
  test: {
    include: ['test/webview/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
