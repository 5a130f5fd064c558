import { defineConfig } from 'vitest/config';

/** Suites that run against the real Kubernetes binaries; they need Go once, to build them. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    setupFiles: ['./scripts/frozen-objects.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 400_000,
    hookTimeout: 600_000,
    reporters: ['default', './scripts/plain-reporter.ts'],
  },
});
