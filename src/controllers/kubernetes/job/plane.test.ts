import { afterEach, expect, test } from 'vitest';
import type { Job, JobSpec } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { jobType, podType } from '../../../api/resource-types.ts';
import { EXIT_AFTER, EXIT_CODE, createSimulatedNodes } from '../../../nodes/index.ts';
import { type ControlPlane, startControlPlane } from '../../../testkit/index.ts';
import { createJobController } from './index.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const SECOND = 1000;
async function start(): Promise<ControlPlane> {
  plane = await startControlPlane({
    controllers: [createSimulatedNodes({ count: 1 }), createJobController()],
  });
  return plane;
}
/** A Job whose pods end after five seconds with the given code; undefined: they run on. */
const job = (exitCode: number | undefined, spec: Partial<JobSpec> = {}): Job => ({
  metadata: { namespace: 'default', name: 'work' },
  spec: {
    template: {
      metadata: exitCode === undefined ? {} : { annotations: { [EXIT_CODE]: String(exitCode), [EXIT_AFTER]: '5s' } },
      spec: { nodeName: 'node-0', restartPolicy: 'Never', containers: [{ name: 'main', image: 'work:1' }] },
    },
    ...spec,
  },
});
const key = { namespace: 'default', name: 'work' };
const read = ({ client }: ControlPlane): Promise<Job> => client.get(jobType, key);
const podsOf = async ({ client }: ControlPlane): Promise<Pod[]> =>
  (await client.list(podType, { namespace: 'default' })).items;
const conditions = ({ status }: Job): string[] =>
  (status?.conditions ?? [])
    .filter(({ status: state }) => state === 'True')
    .map(({ type, reason }) => `${type} ${reason}`);
const counts = async (running: ControlPlane) => {
  const { active = 0, failed = 0, ready = 0, succeeded = 0 } = (await read(running)).status ?? {};
  return { active, failed, ready, succeeded };
};
const patch = ({ client }: ControlPlane, spec: object) => client.patch(jobType, key, { type: 'merge', body: { spec } });

test('a Job runs its pods to completion, as many at once as it says', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(jobType, job(0, { completions: 3, parallelism: 2 }));
  await clock.advance(2 * SECOND);
  expect(await counts(running)).toMatchObject({ active: 2, ready: 2 });
  await clock.advance(20 * SECOND);
  const done = await read(running);
  expect(conditions(done)).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
  expect(await counts(running)).toMatchObject({ succeeded: 3, active: 0 });
  expect(done.status?.completionTime).toBeDefined();
  for (const pod of await podsOf(running)) expect(pod.metadata.finalizers ?? []).toEqual([]);
});

test('a Job that keeps failing backs off and gives up at its limit', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(jobType, job(1, { backoffLimit: 2 }));
  await clock.advance(8 * SECOND);
  expect(await counts(running)).toMatchObject({ failed: 1, active: 0 });
  await clock.advance(9 * SECOND);
  expect(await counts(running)).toMatchObject({ failed: 1, active: 1 });
  await clock.advance(120 * SECOND);
  const failed = await read(running);
  expect(conditions(failed)).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
  expect(failed.status?.failed).toBe(3);
});

test('an Indexed Job gives each pod its index, once', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(jobType, job(0, { completionMode: 'Indexed', completions: 4, parallelism: 2 }));
  await clock.advance(2 * SECOND);
  const [first] = await podsOf(running);
  expect(first?.metadata.name).toMatch(/^work-\d-/);
  expect(first?.spec?.hostname).toMatch(/^work-\d$/);
  expect(first?.spec?.containers[0]?.env?.[0]?.name).toBe('JOB_COMPLETION_INDEX');
  await clock.advance(30 * SECOND);
  const done = await read(running);
  expect(done.status).toMatchObject({ succeeded: 4, completedIndexes: '0-3' });
  const indexes = (await podsOf(running)).map(
    ({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-completion-index'],
  );
  expect(indexes.toSorted((a, b) => Number(a) - Number(b))).toEqual(['0', '1', '2', '3']);
});

test('an Indexed Job with a limit per index fails when an index is beyond help, and says which', async () => {
  const running = await start();
  const { client, clock } = running;
  const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 };
  await client.create(jobType, job(1, spec));
  await clock.advance(60 * SECOND);
  const failed = await read(running);
  expect(conditions(failed)).toEqual(['FailureTarget FailedIndexes', 'Failed FailedIndexes']);
  expect(failed.status).toMatchObject({ failedIndexes: '0,1', failed: 4 });
});

test('a Job ends early once its success policy is met', async () => {
  const running = await start();
  const { client, clock } = running;
  const spec = {
    completionMode: 'Indexed',
    completions: 3,
    parallelism: 1,
    successPolicy: { rules: [{ succeededCount: 1 }] },
  };
  await client.create(jobType, job(0, spec));
  await clock.advance(30 * SECOND);
  const done = await read(running);
  expect(conditions(done)).toEqual(['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy']);
  expect(done.status?.succeeded).toBe(1);
});

test('a pod failure policy fails the Job at once, or does not count the failure', async () => {
  const running = await start();
  const { client, clock } = running;
  const rule = (action: string) => ({ rules: [{ action, onExitCodes: { operator: 'In', values: [42] } }] });
  await client.create(jobType, job(42, { podFailurePolicy: rule('FailJob') }));
  await clock.advance(10 * SECOND);
  const failed = await read(running);
  expect(conditions(failed)).toEqual(['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy']);
  expect(failed.status?.conditions?.[0]?.message).toContain('exit code 42 matching FailJob rule at index 0');
  await client.delete(jobType, key, { propagationPolicy: 'Background' });
  await clock.advance(SECOND);
  await client.create(jobType, job(42, { backoffLimit: 0, podFailurePolicy: rule('Ignore') }));
  await clock.advance(30 * SECOND);
  expect(await counts(running)).toMatchObject({ failed: 0 });
  expect(conditions(await read(running))).toEqual([]);
});

test('a suspended Job has no pods and resumes where it was', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(jobType, job(undefined, { parallelism: 2, completions: 2 }));
  await clock.advance(2 * SECOND);
  await patch(running, { suspend: true });
  await clock.advance(5 * SECOND);
  expect(await podsOf(running)).toEqual([]);
  const suspended = await read(running);
  expect(conditions(suspended)).toEqual(['Suspended JobSuspended']);
  expect(await counts(running)).toMatchObject({ active: 0, failed: 0 });
  await patch(running, { suspend: false });
  await clock.advance(2 * SECOND);
  expect(await counts(running)).toMatchObject({ active: 2, failed: 0 });
});

test('a Job follows its parallelism both ways without counting removed pods as failed', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(jobType, job(undefined, { parallelism: 2 }));
  await clock.advance(2 * SECOND);
  await patch(running, { parallelism: 5 });
  await clock.advance(2 * SECOND);
  expect(await counts(running)).toMatchObject({ active: 5 });
  await patch(running, { parallelism: 1 });
  await clock.advance(5 * SECOND);
  expect(await counts(running)).toMatchObject({ active: 1, failed: 0 });
  expect(await podsOf(running)).toHaveLength(1);
});

test('a Job past its deadline fails and its pods go', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(jobType, job(undefined, { activeDeadlineSeconds: 10 }));
  await clock.advance(9 * SECOND);
  expect(conditions(await read(running))).toEqual([]);
  await clock.advance(5 * SECOND);
  expect(conditions(await read(running))).toEqual(['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded']);
  expect(await podsOf(running)).toEqual([]);
});

test('pods of a Job that was deleted lose their tracking', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(jobType, job(undefined, { parallelism: 2 }));
  await clock.advance(2 * SECOND);
  await client.delete(jobType, key, { propagationPolicy: 'Orphan' });
  await clock.advance(5 * SECOND);
  for (const pod of await podsOf(running))
    await client.delete(podType, { namespace: 'default', name: pod.metadata.name ?? '' });
  await clock.advance(5 * SECOND);
  expect(await podsOf(running)).toEqual([]);
});

test('a Job that another controller manages is left alone', async () => {
  const running = await start();
  const { client, clock } = running;
  await client.create(jobType, job(0, { managedBy: 'example.com/other' }));
  await clock.advance(10 * SECOND);
  expect(await podsOf(running)).toEqual([]);
  expect((await read(running)).status?.startTime).toBeUndefined();
});
