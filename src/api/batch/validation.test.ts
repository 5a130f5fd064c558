import { expect, test } from 'vitest';
import { formatIssue } from '../../machinery/values/index.ts';
import type { CronJob, CronJobSpec, Job, JobSpec } from '../generated/batch-v1.ts';
import {
  defaultCronJob,
  defaultJob,
  generateSelector,
  validateCronJob,
  validateJob,
  validateJobStatus,
  validateJobUpdate,
} from './index.ts';

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'work:1' }] } };
function job(spec: Partial<JobSpec> = {}, name = 'work'): Job {
  const made: Job = { metadata: { name, uid: 'u-1' }, spec: { template: structuredClone(template), ...spec } };
  defaultJob(made);
  generateSelector(made);
  return made;
}
const check = (spec: Partial<JobSpec>): string[] => validateJob(job(spec), () => []).map(formatIssue);
const indexed = { completionMode: 'Indexed', completions: 3 };

test('defaultJob() and generateSelector() make a Job complete', () => {
  const made = job();
  expect(made.spec).toMatchObject({
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } },
  });
  expect(made.spec?.template.metadata?.labels).toEqual({
    'job-name': 'work',
    'batch.kubernetes.io/job-name': 'work',
    'controller-uid': 'u-1',
    'batch.kubernetes.io/controller-uid': 'u-1',
  });
  expect(check({})).toEqual([]);
  expect(job({ parallelism: 2 }).spec?.completions).toBeUndefined();
  expect(job({ ...indexed, backoffLimitPerIndex: 1 }).spec?.backoffLimit).toBe(2_147_483_647);
});

const cases: [name: string, spec: Partial<JobSpec>, issue: string][] = [
  [
    'negative parallelism',
    { parallelism: -1 },
    'spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'a restart policy that is not its own',
    { template: { spec: { containers: [], restartPolicy: 'Always' } } },
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    'indexes without completions',
    { completionMode: 'Indexed', parallelism: 1 },
    'spec.completions: Required value: when completion mode is Indexed',
  ],
  [
    'an unknown completion mode',
    { completionMode: 'Odd' },
    'spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"',
  ],
  [
    'a limit per index without indexes',
    { backoffLimitPerIndex: 1 },
    'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
  ],
  [
    'maxFailedIndexes alone',
    { ...indexed, maxFailedIndexes: 1 },
    'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
  ],
  [
    'a failure policy beside OnFailure',
    {
      template: { spec: { containers: [], restartPolicy: 'OnFailure' } },
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
    },
    'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
  ],
  [
    'a failure rule that says nothing',
    { podFailurePolicy: { rules: [{ action: 'Ignore' }] } },
    'spec.podFailurePolicy.rules[0]: Invalid value: "": specifying one of OnExitCodes and OnPodConditions is required',
  ],
  [
    'exit code 0 as a failure',
    { podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [0] } }] } },
    'spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
  ],
  [
    'a success policy beyond the completions',
    { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0-9' }] } },
    'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-9": error parsing succeededIndexes',
  ],
];
for (const [name, spec, issue] of cases)
  test(`validateJob() refuses ${name}`, () => expect(check(spec)).toEqual([issue]));

test('validateJob() refuses a selector that is not its own', () => {
  const made = job({ selector: { matchLabels: { app: 'other' } } });
  expect(
    validateJob(
      { ...made, spec: { ...made.spec, selector: { matchLabels: { app: 'other' } } } as JobSpec },
      () => [],
    ).map(formatIssue),
  ).toContain('spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: `selector` not auto-generated');
});

const update = (from: Partial<JobSpec>, to: Partial<JobSpec>, status: Job['status'] = {}): string[] => {
  const old = { ...job(from), status };
  return validateJobUpdate({ ...job({ ...from, ...to }), status }, old, () => []).map(formatIssue);
};
const image = (name: string) => ({ spec: { ...template.spec, containers: [{ name: 'main', image: name }] } });

test('validateJobUpdate() lets parallelism change, and completions only with it', () => {
  expect(update({ parallelism: 4 }, { parallelism: 8 })).toEqual([]);
  expect(update({ ...indexed, parallelism: 3 }, { completions: 5, parallelism: 5 })).toEqual([]);
  expect(update({ ...indexed, parallelism: 3 }, { completions: 5 })).toEqual([
    'spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism',
  ]);
  expect(update({ completions: 3, parallelism: 1 }, { completions: 4 })).toEqual([
    'spec.completions: Invalid value: 4: field is immutable',
  ]);
});

test('validateJobUpdate() freezes the template, but for scheduling while it is suspended and idle', () => {
  const frozen = update({}, { template: image('work:2') });
  expect(frozen).toHaveLength(1);
  expect(frozen[0]).toMatch(/^spec.template: Invalid value: .*: field is immutable$/);
  const moved = { spec: { ...template.spec, nodeSelector: { pool: 'a' } } };
  expect(update({ suspend: true }, { template: moved })).toEqual([]);
  expect(update({ suspend: true }, { template: moved }, { active: 1 })).toHaveLength(1);
});

test('17.12: a Job whose template a patch took away is refused', () => {
  for (const suspend of [false, true]) {
    const old = job({ suspend });
    const patched = structuredClone(old);
    delete (patched.spec as Partial<JobSpec>).template;
    defaultJob(patched);
    expect(validateJobUpdate(patched, old, () => []).map(formatIssue)).toContainEqual(
      expect.stringContaining('`selector` does not match template `labels`'),
    );
  }
});

test('validateJobStatus() keeps the story of a Job straight', () => {
  const at = { conditions: [{ type: 'Complete', status: 'True' }], startTime: 'x' };
  expect(validateJobStatus({ ...job(), status: at }, job()).map(formatIssue)).toEqual([
    'status.completionTime: Required value: completionTime is required for Complete jobs',
    'status.conditions: Invalid value: "": cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
  ]);
  expect(
    validateJobStatus({ ...job(), status: { failed: 1 } }, { ...job(), status: { failed: 2 } }).map(formatIssue),
  ).toEqual(['status.failed: Invalid value: 1: cannot decrease the failed counter']);
});

const cron = (spec: Partial<CronJobSpec>, name = 'tick'): string[] => {
  const made: CronJob = {
    metadata: { name },
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template } }, ...spec },
  };
  defaultCronJob(made);
  return validateCronJob(made, () => []).map(formatIssue);
};

test('validateCronJob() reads schedules and time zones', () => {
  expect(cron({ timeZone: 'Europe/Berlin' })).toEqual([]);
  expect(cron({ schedule: '@every 5m' })).toEqual([]);
  expect(cron({ schedule: '* * *' })).toEqual([
    'spec.schedule: Invalid value: "* * *": expected exactly 5 fields, found 3: [* * *]',
  ]);
  expect(cron({ schedule: 'TZ=UTC * * * * *' })).toEqual([
    'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
  ]);
  expect(cron({ timeZone: 'Mars/Base' })).toEqual([
    'spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base',
  ]);
  expect(cron({ concurrencyPolicy: 'Maybe' })).toEqual([
    'spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"',
  ]);
  expect(cron({}, 'x'.repeat(53))).toHaveLength(1);
});

test('18.15: spec.scheduling takes one policy, a minimum the Job can reach, and one disruption mode', () => {
  const gang = (minCount?: number) => ({ schedulingPolicy: { gang: { minCount } } });
  expect(check({ parallelism: 4, scheduling: { ...gang(4), disruptionMode: { all: {} } } })).toEqual([]);
  expect(check({ parallelism: 4, scheduling: { schedulingPolicy: { basic: {} } } })).toEqual([]);
  expect(check({ parallelism: 4, scheduling: gang(5) })).toEqual([
    'spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 5: must not be greater than parallelism (4)',
  ]);
  expect(check({ parallelism: 4, scheduling: gang(0) })).toEqual([
    'spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or equal to 1',
  ]);
  const both = { basic: {}, gang: {} };
  expect(check({ scheduling: { schedulingPolicy: both, disruptionMode: {} } })).toEqual([
    expect.stringContaining(
      'spec.scheduling.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one',
    ),
    expect.stringContaining('spec.scheduling.disruptionMode: Invalid value: "": must specify exactly one'),
  ]);
});

test('18.15: of spec.scheduling only the minimum of a gang may change', () => {
  const from = (before: JobSpec['scheduling'], after: JobSpec['scheduling']) =>
    validateJobUpdate(
      job({ parallelism: 4, ...(after && { scheduling: after }) }),
      job({ parallelism: 4, ...(before && { scheduling: before }) }),
      () => [],
    ).map(({ path }) => path);
  const gang = (minCount: number) => ({ schedulingPolicy: { gang: { minCount } } });
  expect(from(gang(2), gang(3))).toEqual([]);
  expect(from(gang(2), undefined)).toEqual(['spec.scheduling']);
  expect(from(undefined, gang(2))).toEqual(['spec.scheduling']);
  expect(from(gang(2), { schedulingPolicy: { basic: {} } })).toEqual(['spec.scheduling.schedulingPolicy']);
  expect(from(gang(2), { ...gang(2), disruptionMode: { all: {} } })).toEqual(['spec.scheduling']);
});
