import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/{scenarios,clients,cli,faults,docs,conformance}/**/*.test.ts'],
    pool: 'threads',
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: ['./scripts/property-seed.ts'],
    reporters: ['default', './scripts/plain-reporter.ts'],
  },
});
