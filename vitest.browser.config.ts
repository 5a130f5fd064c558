import { defineConfig } from 'vitest/config';

/** The dashboard in Chromium; `npm run test:browser` builds it first. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    // Far above what anything takes: they end a run that hangs, and must not fail one on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './scripts/plain-reporter.ts'],
  },
});
