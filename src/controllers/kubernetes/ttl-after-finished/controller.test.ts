import { expect, test } from 'vitest';
import type { Job } from '../../../api/generated/batch-v1.ts';
import { expiresAt } from './controller.ts';

const job = (ttlSecondsAfterFinished: number | undefined, condition?: string, deleting = false): Job =>
  ({
    metadata: { name: 'j', ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { ttlSecondsAfterFinished },
    status: {
      conditions: condition ? [{ type: condition, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] : [],
    },
  }) as unknown as Job;

const cases = [
  { name: 'a job that asks for nothing', given: job(undefined, 'Complete'), want: undefined },
  { name: 'a job that runs', given: job(10), want: undefined },
  { name: 'a job suspended', given: job(10, 'Suspended'), want: undefined },
  { name: 'a job on its way out', given: job(10, 'Failed', true), want: undefined },
  { name: 'a completed job', given: job(10, 'Complete'), want: '2026-01-01T00:00:10.000Z' },
  { name: 'a failed job that wants none of it', given: job(0, 'Failed'), want: '2026-01-01T00:00:00.000Z' },
];
for (const { name, given, want } of cases) {
  test(`expiresAt() of ${name}`, () => {
    const at = expiresAt(given);
    expect(at === undefined ? undefined : new Date(at).toISOString()).toBe(want);
  });
}
