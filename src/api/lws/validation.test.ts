import { expect, test } from 'vitest';
import { formatIssues } from '../../machinery/values/index.ts';
import { type LeaderWorkerSet, type LeaderWorkerTemplate, LWS } from './types.ts';
import { validateLeaderWorkerSet, validateLeaderWorkerSetUpdate } from './validation.ts';

interface Shape {
  readonly name?: string;
  readonly annotations?: Record<string, string>;
  readonly replicas?: number;
  readonly template?: LeaderWorkerTemplate;
  readonly rolling?: object;
}

const set = ({ annotations = {}, name = 'llm', replicas = 2, rolling, template }: Shape = {}): LeaderWorkerSet => ({
  metadata: { name, namespace: 'default', annotations },
  spec: {
    replicas,
    leaderWorkerTemplate: { size: 4, ...template },
    rolloutStrategy: { type: 'RollingUpdate', rollingUpdateConfiguration: rolling },
  },
});
const subGroups = (subGroupSize: number | undefined, size = 4, subGroupPolicyType = 'LeaderWorker') =>
  set({ template: { size, subGroupPolicy: { subGroupPolicyType, subGroupSize } } });

const POLICY = 'spec.leaderWorkerTemplate.subGroupPolicy';
const ROLLING = 'spec.rolloutStrategy.rollingUpdateConfiguration';
const MULTIPLE = 'size or size - 1 must be a multiple of it';

const cases: [name: string, given: LeaderWorkerSet, want: string][] = [
  ['takes a plain set', set(), ''],
  [
    'refuses a name that no Service can have',
    set({ name: '1.llm' }),
    'metadata.name: Invalid value: "1.llm": a DNS-1035',
  ],
  ['refuses fewer than no groups', set({ replicas: -1 }), 'spec.replicas: Invalid value: -1: must be greater'],
  [
    'refuses a group of nobody',
    set({ template: { size: 0 } }),
    'spec.leaderWorkerTemplate.size: Invalid value: 0: must be greater than or equal to 1',
  ],
  [
    'refuses more pods than can be counted',
    set({ replicas: 2 ** 30 }),
    'spec.replicas: Invalid value: 1073741824: replicas times size must not exceed 2147483647',
  ],
  ['refuses a text that is no percentage', set({ rolling: { maxSurge: '3' } }), `${ROLLING}.maxSurge: Invalid value`],
  [
    'refuses more than all',
    set({ rolling: { maxUnavailable: '120%' } }),
    `${ROLLING}.maxUnavailable: Invalid value: "120%": must not be greater than 100%`,
  ],
  ['refuses a negative partition', set({ rolling: { partition: -1 } }), `${ROLLING}.partition: Invalid value: -1`],
  [
    'refuses an update that cannot move',
    set({ rolling: { maxUnavailable: '10%', maxSurge: 0 } }),
    `${ROLLING}.maxUnavailable: Invalid value: "10%": must not be 0 when maxSurge is 0`,
  ],
  ['takes that of an empty set', set({ replicas: 0, rolling: { maxUnavailable: 0, maxSurge: 0 } }), ''],
  ['takes subgroups that divide the pods', subGroups(2), ''],
  ['takes subgroups that divide the workers', subGroups(2, 5), ''],
  ['refuses subgroups that divide neither', subGroups(4, 6), `${POLICY}.subGroupSize: Invalid value: 4: ${MULTIPLE}`],
  ['wants a size of subgroups', subGroups(undefined), `${POLICY}.subGroupSize: Required value`],
  [
    'refuses a size of none',
    subGroups(0),
    `${POLICY}.subGroupSize: Invalid value: 0: must be greater than or equal to 1`,
  ],
  [
    'refuses a larger one than the group',
    subGroups(8),
    `${POLICY}.subGroupSize: Invalid value: 8: must not be greater`,
  ],
  [
    'wants workers divided where the leader is in no subgroup',
    subGroups(2, 4, 'LeaderExcluded'),
    `${POLICY}.subGroupSize: Invalid value: 2: size - 1 must be a multiple of it with LeaderExcluded`,
  ],
  ['takes LeaderExcluded that divides the workers', subGroups(2, 5, 'LeaderExcluded'), ''],
  [
    'refuses a topology of subgroups without subgroups',
    set({ annotations: { [LWS.subGroupExclusiveTopology]: 'rack' } }),
    `metadata.annotations[${LWS.subGroupExclusiveTopology}]: Invalid value: "rack"`,
  ],
];
for (const [name, given, want] of cases) {
  test(`23.3: validateLeaderWorkerSet() ${name}`, () => {
    const found = formatIssues(validateLeaderWorkerSet(given));
    if (want === '') expect(found).toBe('[]');
    else expect(found).toContain(want);
  });
}

const updates: [name: string, old: LeaderWorkerSet, given: LeaderWorkerSet, want: string][] = [
  ['takes subgroups as they were', subGroups(2), subGroups(2), ''],
  [
    'refuses another size of subgroups',
    subGroups(2),
    subGroups(4),
    `${POLICY}.subGroupSize: Invalid value: 4: field is`,
  ],
  ['refuses new subgroups', set(), subGroups(2), `${POLICY}: Invalid value: `],
  ['refuses to lose subgroups', subGroups(2), set(), `${POLICY}: Invalid value: null`],
  ['lets alone what was wrong before', subGroups(4, 6), subGroups(4, 6), ''],
];
for (const [name, old, given, want] of updates) {
  test(`23.3: validateLeaderWorkerSetUpdate() ${name}`, () => {
    const found = formatIssues(validateLeaderWorkerSetUpdate(given, old));
    if (want === '') expect(found).toBe('[]');
    else expect(found).toContain(want);
  });
}
