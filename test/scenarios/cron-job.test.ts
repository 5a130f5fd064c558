import { afterEach, expect, test } from 'vitest';
import type { CronJob, CronJobSpec } from '../../src/api/generated/batch-v1.ts';
import { cronJobType, jobType } from '../../src/api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const MINUTE = 60_000;
const key = { namespace: 'default', name: 'tick' };
/** Every minute a Job whose pod runs for so long. */
const tick = (runs: string, spec: Partial<CronJobSpec> = {}): CronJob => ({
  metadata: key,
  spec: {
    schedule: '*/1 * * * ?',
    jobTemplate: {
      spec: {
        template: {
          metadata: { annotations: { 'nodes.quorate.dev/exit-after': runs } },
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'work:1' }] },
        },
      },
    },
    ...spec,
  },
});
async function started(cronJob: CronJob): Promise<ControlPlane> {
  plane = await startControlPlane({ controllers: true, nodes: 1 });
  await plane.clock.advance(5000);
  await plane.client.create(cronJobType, cronJob);
  return plane;
}
const jobsOf = async ({ client }: ControlPlane) => (await client.list(jobType, { namespace: 'default' })).items;
const activeOf = async ({ client }: ControlPlane) => ((await client.get(cronJobType, key)).status?.active ?? []).length;

test('a CronJob starts a Job each minute and keeps the last few that finished', async () => {
  const on = await started(tick('5s'));
  await on.clock.advance(6 * MINUTE + 20_000);
  const jobs = await jobsOf(on);
  expect(jobs).toHaveLength(3);
  expect(jobs.every(({ status }) => status?.conditions?.some(({ type }) => type === 'Complete'))).toBe(true);
  const { status } = await on.client.get(cronJobType, key);
  expect(status?.lastScheduleTime).toBe('2026-01-01T00:06:00Z');
  expect(status?.lastSuccessfulTime).toBe('2026-01-01T00:06:05Z');
});

test('a CronJob lets Jobs run beside each other, unless it forbids that', async () => {
  const on = await started(tick('10m'));
  await on.clock.advance(3 * MINUTE);
  expect(await activeOf(on)).toBe(3);
  await on.stop();
  const forbidding = await started(tick('10m', { concurrencyPolicy: 'Forbid' }));
  await forbidding.clock.advance(3 * MINUTE);
  expect(await activeOf(forbidding)).toBe(1);
  expect(await jobsOf(forbidding)).toHaveLength(1);
});

test('a CronJob replaces the Job that still runs', async () => {
  const on = await started(tick('10m', { concurrencyPolicy: 'Replace' }));
  await on.clock.advance(MINUTE);
  const [first] = await jobsOf(on);
  await on.clock.advance(MINUTE);
  const jobs = await jobsOf(on);
  expect(jobs).toHaveLength(1);
  expect(jobs[0]?.metadata.name).not.toBe(first?.metadata.name);
});

test('a suspended CronJob starts nothing, and then only the last missed Job', async () => {
  const on = await started(tick('5s', { suspend: true }));
  await on.clock.advance(5 * MINUTE);
  expect(await jobsOf(on)).toEqual([]);
  await on.client.patch(cronJobType, key, { type: 'merge', body: { spec: { suspend: false } } });
  await on.clock.advance(10_000);
  expect(await jobsOf(on)).toHaveLength(1);
});
