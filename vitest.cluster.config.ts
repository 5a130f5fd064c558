import { defineConfig } from 'vitest/config';
import LongestFirst from './scripts/longest-first.ts';

/** Suites that run against the real Kubernetes binaries; they need Go once, to build them. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    // A race with the real kube-scheduler that is not always won: `npm run test:capacity`, a command of its own.
    exclude: process.env['QUORATE_CAPACITY'] === '1' ? [] : ['test/cluster/capacity.test.ts'],
    setupFiles: ['./scripts/frozen-objects.ts'],
    pool: 'forks',
    // Each file has a control plane of its own and mostly waits for it: two at once take little more than half the time.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 400_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './scripts/plain-reporter.ts'],
  },
});
