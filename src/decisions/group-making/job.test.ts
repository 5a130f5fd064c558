import { expect, test } from 'vitest';
import type { Job, JobSpec } from '../../api/generated/batch-v1.ts';
import { decideJobGang, GANG_ANNOTATION, isNew, podGroupName, templateName, workloadName } from './index.ts';

const job = (gang: string | undefined, spec: Partial<JobSpec> = {}): Job => ({
  metadata: { name: 'train', uid: '1', annotations: gang === undefined ? {} : { [GANG_ANNOTATION]: gang } },
  spec: { parallelism: 4, template: {}, ...spec },
});

const cases: { name: string; given: Job; want: object }[] = [
  { name: 'leaves Jobs alone that do not ask', given: job(undefined), want: { reason: 'NotAsked' } },
  { name: 'takes all of the parallelism', given: job('true'), want: { reason: 'Gang', minCount: 4 } },
  { name: 'takes a smaller minimum', given: job('2'), want: { reason: 'Gang', minCount: 2 } },
  { name: 'never asks for more than there will be', given: job('9'), want: { reason: 'Gang', minCount: 4 } },
  { name: 'asks for one at least', given: job('true', { parallelism: 0 }), want: { reason: 'Gang', minCount: 1 } },
  { name: 'says when it cannot read the annotation', given: job('many'), want: { reason: 'Unreadable' } },
  {
    name: 'respects a group in the template',
    given: job('true', { template: { spec: { containers: [], schedulingGroup: { podGroupName: 'g' } } } }),
    want: { reason: 'TemplateHasGroup' },
  },
  {
    name: 'reads the field of newer versions',
    given: job(undefined, { scheduling: { schedulingPolicy: { gang: { minCount: 3 } } } }),
    want: { reason: 'Gang', minCount: 3 },
  },
  {
    name: '18.15: makes a group without a minimum where scheduling asks for no gang',
    given: job(undefined, { scheduling: { disruptionMode: { all: {} } } }),
    want: { reason: 'Basic' },
  },
];
for (const { given, name, want } of cases)
  test(`decideJobGang() ${name}`, () => expect(decideJobGang(given)).toEqual(want));

test('decideJobGang() takes Jobs that run all at once without asking, when told to', () => {
  const indexed = { completionMode: 'Indexed', completions: 4 };
  expect(decideJobGang(job(undefined, indexed), { automatic: true })).toEqual({ reason: 'Gang', minCount: 4 });
  expect(decideJobGang(job(undefined, { ...indexed, completions: 8 }), { automatic: true }).reason).toBe('NotAsked');
  expect(decideJobGang(job('false', indexed), { automatic: true }).reason).toBe('NotAsked');
});

test('isNew() holds until the Job did anything', () => {
  expect(isNew(job('true'), 0)).toBe(true);
  expect(isNew(job('true'), 1)).toBe(false);
  expect(isNew({ ...job('true'), status: { startTime: '2026-01-01T00:00:00Z' } }, 0)).toBe(false);
});

test('names of groups stay valid however long the Job is called', () => {
  const long = { ...job('true'), metadata: { name: `a.${'b'.repeat(250)}`, uid: '1' } };
  const workload = workloadName(long);
  expect(workload.length).toBeLessThanOrEqual(253);
  expect(templateName(long)).toMatch(/^[a-z0-9-]{1,63}$/);
  expect(podGroupName(workload, templateName(long)).length).toBeLessThanOrEqual(253);
  expect(podGroupName('w', 't')).toMatch(/^w-t-[a-z0-9]+$/);
});

test('names are those that the Job controller of Kubernetes 1.36 gave for this UID', () => {
  const train = { metadata: { name: 'train', uid: 'f96133ac-1d22-4b9d-8bb3-c382122c31a7' } };
  expect(workloadName(train)).toBe('train-c469cfd66');
  expect(podGroupName(workloadName(train), templateName(train))).toBe('train-c469cfd66-train-pgt-0-8574c9898');
});

test('decideJobGang() reads the annotation that asks for groups, which another may overrule', () => {
  const asks = (annotations: Record<string, string>): Job => ({
    ...job(undefined),
    metadata: { name: 'train', annotations },
  });
  const create = 'groups.quorate.dev/create';
  expect(decideJobGang(asks({ [create]: 'true' }))).toEqual({ reason: 'Gang', minCount: 4 });
  expect(decideJobGang(asks({ [create]: 'false' }))).toEqual({ reason: 'NotAsked' });
  expect(decideJobGang(asks({ [create]: '2' }))).toEqual({ reason: 'Unreadable' });
  expect(decideJobGang(asks({ [create]: 'true', [GANG_ANNOTATION]: '2' }))).toEqual({ reason: 'Gang', minCount: 2 });
});
