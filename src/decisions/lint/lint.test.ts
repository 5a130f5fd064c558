import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { LWS } from '../../api/lws/types.ts';
import { findRule, RULES } from './catalogue.ts';
import { deployment, job, leaderWorkerSet, members, object, pdb, pod, podGroup, pub } from './fixtures.ts';
import { lint, LINT_DISABLE } from './lint.ts';

const GROUPS = { groupLabelKey: LWS.groupIndex, minReadyReplicas: 3 };
const SHARDS = { groupLabelKey: 'shard', minReadyReplicas: 2 };
const shard = (name: string, value: string, replicas = 2) =>
  deployment(name, replicas, { labels: { app: 'web', shard: value } });
const link = (podGroupName: string) => ({ pod: { schedulingGroup: { podGroupName } } });

/** `severity rule path` of every finding about the named object, but for those that nearly every budget has. */
function found(objects: readonly KubeObject[], name: string, source: 'Manifests' | 'Cluster' = 'Manifests'): string[] {
  return lint({ objects, source }, { disabled: new Set(['unhealthy-pods-block']) })
    .findings.filter(({ object: at }) => at.metadata.name === name)
    .map(({ path, rule, severity }) => `${severity} ${rule} ${path}`);
}

const web = (replicas: number) => deployment('web', replicas);
const cases: readonly { name: string; given: readonly KubeObject[]; about?: string; want: readonly string[] }[] = [
  { name: 'is content with room for one', given: [web(3), pdb('web', { maxUnavailable: 1 })], want: [] },
  {
    name: 'sees that nothing may go of all',
    given: [web(3), pdb('web', { minAvailable: 3 })],
    want: ['error never-allows-drain spec.minAvailable'],
  },
  {
    name: 'sees maxUnavailable 0',
    given: [web(3), pdb('web', { maxUnavailable: 0 })],
    want: ['error never-allows-drain spec.maxUnavailable'],
  },
  ...[{ maxUnavailable: 0 }, { maxUnavailable: '0%' }, { minAvailable: '100%' }].map((spec) => ({
    name: `18.13: sees ${JSON.stringify(spec)} in a file without the pods`,
    given: [pdb('web', spec)],
    want: [`error never-allows-drain spec.${Object.keys(spec)[0]}`],
  })),
  {
    name: '18.13: says nothing of a budget without its pods that may have room',
    given: [pdb('web', { minAvailable: 1 })],
    want: [],
  },
  {
    name: 'sees a single replica that must stay',
    given: [web(1), pdb('web', { minAvailable: 1 })],
    want: ['error never-allows-drain spec.minAvailable'],
  },
  {
    name: 'sees a budget without a number',
    given: [web(2), pdb('web', {})],
    want: ['error never-allows-drain spec'],
  },
  {
    name: 'sees 100%',
    given: [web(4), pdb('web', { minAvailable: '100%' })],
    want: ['error never-allows-drain spec.minAvailable'],
  },
  {
    name: 'sees more asked for than there are',
    given: [web(3), pdb('web', { minAvailable: 4 })],
    want: ['error threshold-above-size spec.minAvailable'],
  },
  {
    name: 'sees a part that rounds up to the whole',
    given: [web(3), pdb('web', { minAvailable: '90%' })],
    want: ['error percentage-rounds-away spec.minAvailable'],
  },
  {
    name: 'sees a part of one that is all of it',
    given: [web(1), pdb('web', { maxUnavailable: '25%' })],
    want: ['warning percentage-rounds-away spec.maxUnavailable'],
  },
  { name: 'takes a part that stays a part', given: [web(4), pdb('web', { maxUnavailable: '25%' })], want: [] },
  {
    name: 'says when everything may go',
    given: [web(2), pdb('web', { minAvailable: 0 })],
    want: ['info protects-nothing spec.minAvailable'],
  },
  {
    name: 'sees pods of a Job under maxUnavailable',
    given: [job('web', 3), pdb('web', { maxUnavailable: 1 })],
    want: ['error uncountable-owner spec.maxUnavailable'],
  },
  { name: 'lets a Job be under an integer', given: [job('web', 3), pdb('web', { minAvailable: 2 })], want: [] },
  {
    name: 'sees bare pods under maxUnavailable',
    given: [pod('a'), pod('b'), pdb('web', { maxUnavailable: 1 })],
    want: ['error uncountable-owner spec.maxUnavailable'],
  },
  {
    name: 'sees a second budget over the same pods',
    given: [web(3), pdb('web', { maxUnavailable: 1 }), pdb('z', { maxUnavailable: 1, selector: {} })],
    about: 'z',
    want: ['error overlapping-budgets spec.selector', 'warning selects-everything spec.selector'],
  },
  {
    name: 'sees a budget of each kind over the same pods',
    given: [
      web(3),
      pdb('web', { maxUnavailable: 1 }),
      pub('pub', { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } }),
    ],
    about: 'pub',
    want: ['warning pdb-and-pub spec.selector'],
  },
  {
    name: 'sees a selector that matches nothing',
    given: [web(3), pdb('other', { maxUnavailable: 1 })],
    about: 'other',
    want: ['warning selects-nothing spec.selector'],
  },
  { name: 'keeps quiet about budgets alone in a file', given: [pdb('web', { maxUnavailable: 1 })], want: [] },
  {
    name: 'takes a workload scaled to nothing for a match',
    given: [web(0), pdb('web', { maxUnavailable: 1 })],
    want: [],
  },
  {
    name: 'sees a gang that wants more pods than name it',
    given: [podGroup('g', 4), ...members('g', 3), pdb('web', { minAvailable: 1 })],
    about: 'g',
    want: ['error threshold-above-size spec.schedulingPolicy.gang.minCount'],
  },
  {
    name: 'counts a gang that can never be whole as down',
    given: [podGroup('g', 4), ...members('g', 3), pdb('web', { minAvailable: 1 })],
    want: ['error never-allows-drain spec.minAvailable'],
  },
  {
    name: 'sees a gang that is whole with one of three',
    given: [podGroup('g', 1), ...members('g', 3), pdb('web', { maxUnavailable: 1 })],
    about: 'g',
    want: ['warning threshold-of-one spec.schedulingPolicy.gang.minCount'],
  },
  {
    name: 'sees gangs without a budget',
    given: [podGroup('g', 3), ...members('g', 3)],
    about: 'g',
    want: ['warning group-without-budget '],
  },
  {
    name: 'sees a group that names a missing PodGroup',
    given: [deployment('web', 2, link('gone')), pdb('web', { maxUnavailable: 1 })],
    want: ['warning dangling-reference spec.template.spec.schedulingGroup.podGroupName'],
  },
  {
    name: 'sees a PodGroup that names a missing Workload',
    given: [podGroup('g', 2, { workloadRef: { workloadName: 'w', templateName: 't' } })],
    about: 'g',
    want: ['warning dangling-reference spec.workloadRef'],
  },
  {
    name: 'sees a targetRef to nothing',
    given: [pub('web', { maxUnavailable: 1, targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'gone' } })],
    want: ['warning dangling-reference spec.targetRef'],
  },
  {
    name: 'finds the target of a targetRef',
    given: [
      web(3),
      pub('pub', { maxUnavailable: 1, targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }),
    ],
    about: 'pub',
    want: [],
  },
  {
    name: 'is content with a group budget over a LeaderWorkerSet',
    given: [leaderWorkerSet('web', 3, 3), pub('web', { maxUnavailable: 1, podGroupPolicy: GROUPS })],
    want: [],
  },
  {
    name: 'sees a threshold of one on groups of three',
    given: [
      leaderWorkerSet('llm', 3, 3),
      pub('web', {
        maxUnavailable: 1,
        selector: { matchLabels: { app: 'llm' } },
        podGroupPolicy: { groupLabelKey: LWS.groupIndex },
      }),
    ],
    want: ['warning threshold-of-one spec.podGroupPolicy'],
  },
  {
    name: 'sees a threshold above the declared size',
    given: [
      leaderWorkerSet('llm', 3, 2),
      pub('web', { maxUnavailable: 1, selector: { matchLabels: { app: 'llm' } }, podGroupPolicy: GROUPS }),
    ],
    want: ['warning threshold-above-size spec.podGroupPolicy.minReadyReplicas'],
  },
  {
    name: 'sees a threshold that no group reaches',
    given: [shard('a', '0', 1), shard('b', '1', 1), pub('web', { maxUnavailable: 1, podGroupPolicy: SHARDS })],
    want: ['error threshold-above-size spec.podGroupPolicy.minReadyReplicas'],
  },
  {
    name: 'sees groups of which none may go',
    given: [
      leaderWorkerSet('llm', 1, 3),
      pub('web', { minAvailable: 1, selector: { matchLabels: { app: 'llm' } }, podGroupPolicy: GROUPS }),
    ],
    want: ['error never-allows-drain spec.minAvailable'],
  },
  {
    name: 'sees a label that two workloads share',
    given: [
      shard('a', '0'),
      shard('b', '0'),
      shard('c', '1'),
      pub('web', { maxUnavailable: 1, podGroupPolicy: SHARDS }),
    ],
    want: ['warning shared-group-label spec.podGroupPolicy.groupLabelKey'],
  },
  {
    name: 'tells LeaderWorkerSets with equal indexes apart',
    given: [
      leaderWorkerSet('a', 2, 3),
      leaderWorkerSet('b', 2, 3),
      pub('web', {
        maxUnavailable: 1,
        podGroupPolicy: GROUPS,
        selector: { matchExpressions: [{ key: LWS.name, operator: 'Exists' }] },
      }),
    ],
    want: [],
  },
  {
    name: 'sees a LeaderWorkerSet counted in pods',
    given: [leaderWorkerSet('llm', 3, 3), pdb('web', { maxUnavailable: 3, selector: { matchLabels: { app: 'llm' } } })],
    want: ['warning group-counted-as-pods metadata.annotations'],
  },
  {
    name: 'takes a LeaderWorkerSet counted in groups',
    given: [
      leaderWorkerSet('llm', 3, 3),
      pdb(
        'web',
        { maxUnavailable: 1, selector: { matchLabels: { app: 'llm' } } },
        { annotations: { 'policy.quorate.dev/group-by': 'leaderworkerset' } },
      ),
    ],
    want: [],
  },
  {
    name: 'sees workers left open',
    given: [
      leaderWorkerSet('llm', 2, 3),
      pdb(
        'web',
        { minAvailable: 1, selector: { matchLabels: { [LWS.workerIndex]: '0' } } },
        { annotations: { 'policy.quorate.dev/group-by': 'leaderworkerset' } },
      ),
    ],
    about: 'llm',
    want: ['warning group-partly-covered '],
  },
  {
    name: 'sees pods in no group under a budget over groups',
    given: [
      podGroup('g', 3),
      podGroup('h', 3),
      ...members('g', 3),
      ...members('h', 3),
      pod('alone'),
      pdb('web', { minAvailable: 1 }),
    ],
    want: ['warning mixed-budget spec.selector'],
  },
  {
    name: 'sees both bounds at once',
    given: [pdb('web', { minAvailable: 1, maxUnavailable: 1 })],
    want: ['error invalid-budget spec'],
  },
  {
    name: 'sees a number that is none',
    given: [web(3), pdb('web', { minAvailable: 'half' })],
    want: ['error invalid-budget spec.minAvailable'],
  },
  {
    name: 'survives fields of the wrong type',
    given: [
      pdb('web', { selector: { matchExpressions: 7 }, minAvailable: 1 }),
      object('apps/v1', 'Deployment', 'd', { spec: 'x' }),
    ],
    want: ['error invalid-budget spec'],
  },
  {
    name: 'sees mistyped annotations',
    given: [web(3), pdb('web', { maxUnavailable: 1 }, { annotations: { 'policy.quorate.dev/budget-scope': 'Group' } })],
    want: ['error unreadable-annotation metadata.annotations[policy.quorate.dev/budget-scope]'],
  },
];

for (const { about = 'web', given, name, want } of cases) {
  test(`lint() ${name}`, () => {
    expect(found(given, about)).toEqual(want);
  });
}

test('lint() sees pods of one controller that name a group only in part', () => {
  const owned = (name: string, spec: object): KubeObject => {
    const made = pod(name, { pod: spec as Record<string, unknown> });
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs', controller: true }];
    return { ...made, metadata: { ...made.metadata, ownerReferences } } as KubeObject;
  };
  const objects = [
    podGroup('g', 1),
    owned('a', { schedulingGroup: { podGroupName: 'g' } }),
    owned('b', {}),
    pdb('web', { minAvailable: 1 }),
  ];
  expect(found(objects, 'web', 'Cluster')).toEqual(['error falls-back-to-pods spec.selector']);
});

test('lint() takes the pods of a cluster for healthy, and the wanted replicas for there', () => {
  const owner = object('apps/v1', 'StatefulSet', 'db', { spec: { replicas: 3 } });
  const ill = {
    ...pod('db-0', { labels: { app: 'web' } }),
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
  } as KubeObject;
  const references = [
    { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: owner.metadata.uid, controller: true },
  ];
  const owned = { ...ill, metadata: { ...ill.metadata, ownerReferences: references } } as KubeObject;
  expect(found([owner, owned, pdb('web', { minAvailable: 2 })], 'web', 'Cluster')).toEqual([]);
  expect(found([owner, owned, pdb('web', { minAvailable: 3 })], 'web', 'Cluster')).toEqual([
    'error never-allows-drain spec.minAvailable',
  ]);
});

test('lint() takes a missing object of a cluster for an error', () => {
  const objects = [pod('a', link('gone')), pdb('web', { minAvailable: 0 })];
  expect(found(objects, 'a', 'Cluster')).toEqual(['error dangling-reference spec.schedulingGroup.podGroupName']);
});

test('lint() lets a gang that a Job asks for be without a budget only with a warning', () => {
  const report = lint({ objects: [job('train', 4)], source: 'Manifests', gangOf: () => 4 });
  expect(report.findings.map(({ rule }) => rule)).toEqual(['group-without-budget']);
});

test('lint() leaves out what flag or annotation disables, and says how much', () => {
  const objects = [
    web(3),
    pdb('web', { maxUnavailable: 0 }, { annotations: { [LINT_DISABLE]: 'x, never-allows-drain' } }),
  ];
  const { findings, silenced } = lint(
    { objects, source: 'Manifests' },
    { disabled: new Set(['unhealthy-pods-block']) },
  );
  expect(findings).toEqual([]);
  expect(silenced).toBe(1);
});

test('lint() refuses to plan more pods than a cluster can run', () => {
  expect(() => lint({ objects: [web(2_000_000_000)], source: 'Manifests' })).toThrow(/more than 150000 pods/);
});

test('every rule has all of its texts, and each is seen by a case above', () => {
  const seen = new Set(cases.flatMap(({ want }) => want.map((line) => line.split(' ')[1])));
  for (const rule of RULES) {
    expect(rule.name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    for (const text of [rule.why, rule.fix, rule.details]) expect(text).toMatch(/^[A-Z].*[.]$/s);
    expect(findRule(rule.name)).toBe(rule);
  }
  // What the API knows is told by the task, which has the tests of these.
  const known = ['unknown-field', 'unknown-kind', 'removed-api-version'];
  const elsewhere = ['falls-back-to-pods', 'unhealthy-pods-block', ...known];
  expect(RULES.map(({ name }) => name).filter((name) => !seen.has(name) && !elsewhere.includes(name))).toEqual([]);
});
