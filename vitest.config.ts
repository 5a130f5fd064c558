import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/longest-first.ts';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'test/{scenarios,simulation,agreement,clients,cli,faults,attacks,docs,package,conformance,linearizable,corpus}/**/*.test.ts',
    ],
    pool: 'threads',
    isolate: false,
    // Many suites wait for processes of their own more than they compute.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Far above what anything takes: they end a run that hangs, and must not fail one on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ['./test/package/folder.ts'],
    setupFiles: ['./scripts/property-seed.ts', './scripts/frozen-objects.ts'],
    reporters: ['default', './scripts/plain-reporter.ts'],
  },
});
