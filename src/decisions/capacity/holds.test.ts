/** Placeholders and what becomes of them. */
import { expect, test } from 'vitest';
import type { Pod, PodSpec } from '../../api/generated/core-v1.ts';
import { decideHold, type HoldMember } from './hold-life.ts';
import { planHold } from './placeholder.ts';

const member = (name: string, spec: Partial<PodSpec> = {}): { pod: Pod; node: string } => ({
  pod: { metadata: { name, namespace: 'ns' }, spec: { containers: [{ name: 'main', image: 'x' }], ...spec } },
  node: 'n1',
});

const plan = (members: { pod: Pod; node: string }[], others = { placeholders: 0, units: 0 }) =>
  planHold({
    others,
    unit: 'ns/g',
    budget: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'ns', name: 'foo', uid: 'b' },
    members,
    grant: 'u',
    standing: ['u'],
    now: 0,
    forMs: 600_000,
  });

test('CP-18 planHold() cannot hold devices, and names the pod that claims them', () => {
  const claiming = member('a-1', { resourceClaims: [{ name: 'd', resourceClaimName: 'd' }] });
  expect(plan([member('a-0'), claiming])).toEqual({
    made: false,
    text: 'ReserveFailed: the devices that pod a-1 claims cannot be held',
  });
});

test('planHold() takes the priority of the least important member, up to what classes may have', () => {
  expect(plan([member('a-0', { priority: 7 }), member('a-1', { priority: 5 })])).toMatchObject({ priority: 5 });
  expect(plan([member('a-0', { priority: 2_000_000_000 })])).toMatchObject({ made: false });
});

test('planHold() holds all that a member asks for, with limits where Kubernetes wants them, and its host ports', () => {
  const asked = plan([
    member('a-0', {
      tolerations: [{ operator: 'Exists' }],
      schedulerName: 'mine',
      containers: [
        {
          name: 'main',
          image: 'x',
          ports: [{ containerPort: 80, hostPort: 8080 }],
          resources: { requests: { cpu: '1500m', 'nvidia.com/gpu': '4' } },
        },
      ],
      initContainers: [{ name: 'init', image: 'x', resources: { requests: { memory: '1Gi' } } }],
    }),
  ]);
  const made = asked.made ? asked.placeholders[0]?.spec : undefined;
  expect(made).toMatchObject({
    tolerations: [{ operator: 'Exists' }],
    schedulerName: 'mine',
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
  });
  expect(made?.containers).toMatchObject([
    {
      ports: [{ containerPort: 80, hostPort: 8080 }],
      resources: {
        requests: { cpu: '1500m', memory: '1073741824', 'nvidia.com/gpu': '4' },
        limits: { 'nvidia.com/gpu': '4' },
      },
    },
  ]);
});

const one = (name: string, over: Partial<HoldMember> = {}): HoldMember => ({
  name,
  uid: name,
  node: 'old',
  going: false,
  up: true,
  isNew: false,
  nominated: '',
  ...over,
});
const back = (name: string, over: Partial<HoldMember> = {}): HoldMember =>
  one(name, { uid: `${name} again`, isNew: true, up: false, node: '', ...over });
const placeholders = ['h0', 'h1'].map((name, at) => ({ name, node: `n${at}`, going: false, createdAt: 0 }));
const decide = (members: readonly HoldMember[], over: Partial<Parameters<typeof decideHold>[0]> = {}) =>
  decideHold({ placeholders, grant: 'a', size: 2, missing: 0, until: 100, members, minCount: 2, now: 0, ...over });

test.each<[string, readonly HoldMember[], ReturnType<typeof decide>]>([
  ['keeps the room while the pod whose eviction was granted still stands', [one('a'), one('b')], { action: 'Keep' }],
  ['keeps it while too few members exist', [one('b', { going: true }), back('a')], { action: 'Keep' }],
  [
    'gives it back when the group is whole',
    [back('a', { node: 'n0', up: true }), back('b', { node: 'n1', up: true })],
    { action: 'Release', reason: 'Whole' },
  ],
  [
    'promises each member that waits a place, and lets the placeholders there go',
    [back('a'), back('b')],
    {
      action: 'HandOver',
      nominations: [
        { pod: 'a', node: 'n0' },
        { pod: 'b', node: 'n1' },
      ],
      release: ['h0', 'h1'],
    },
  ],
  [
    'keeps the places of members that have yet to go',
    [back('a'), one('b')],
    { action: 'HandOver', nominations: [{ pod: 'a', node: 'n0' }], release: ['h0'] },
  ],
])('decideHold() %s', (_, members, want) => expect(decide(members)).toEqual(want));

test('CP-16 decideHold() gives the room back at the deadline, whole or not', () => {
  expect(decide([one('b', { going: true })], { now: 100 })).toEqual({ action: 'Release', reason: 'Expired' });
});

test('decideHold() says nothing of a hold that nobody made use of', () => {
  expect(decide([one('a'), one('b')], { now: 100 })).toEqual({ action: 'Release', reason: 'NotNeeded' });
});

test('decideHold() gives all back when a placeholder finds no place within a minute, and promises no place before', () => {
  const waiting = placeholders.map((one) => ({ ...one, node: '' }));
  const over = { placeholders: waiting, until: 600_000 };
  expect(decide([one('a'), one('b')], { ...over, now: 59_999 })).toEqual({ action: 'Keep' });
  expect(decide([back('a'), back('b')], { ...over, now: 59_999 })).toEqual({ action: 'Keep' });
  expect(decide([one('a'), one('b')], { ...over, now: 60_000 })).toEqual({ action: 'Release', reason: 'NotBound' });
});

test('planHold() keeps to the limits of a cluster', () => {
  const one = [member('a-0')];
  expect(plan(one, { placeholders: 1_999, units: 63 })).toMatchObject({ made: true });
  expect(plan(one, { placeholders: 2_000, units: 8 })).toMatchObject({
    made: false,
    text: 'ReserveFailed: limit: at most 2000 pods hold room, and 2000 do',
  });
  expect(plan(one, { placeholders: 64, units: 64 })).toMatchObject({
    made: false,
    text: 'ReserveFailed: limit: room is held for 64 groups already',
  });
  expect(plan(Array.from({ length: 257 }, (_, at) => member(`a-${at}`)))).toMatchObject({ made: false });
});

test('decideHold() takes no second place for a member whose placeholder is gone', () => {
  const left = placeholders.slice(1);
  const members = [back('a', { nominated: 'n0' }), one('b')];
  expect(decide(members, { placeholders: left })).toEqual({ action: 'Keep' });
});
