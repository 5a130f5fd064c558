import { expect, test } from 'vitest';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { cluster, node, pod, type PodOptions } from '../fixtures.ts';
import { refusals, passing, zone, ab } from './filters.fixture.ts';

const web = { labels: { app: 'web' } };

const term = (key: string, labels: Record<string, string> | undefined, more: object = {}) => ({
  topologyKey: key,
  ...(labels && { labelSelector: { matchLabels: labels } }),
  ...more,
});

const near = (...terms: object[]): PodOptions =>
  ({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }) as PodOptions;

const apart = (...terms: object[]): PodOptions =>
  ({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }) as PodOptions;

test('FT-28: affinity to a pod, also while it terminates, not when it is gone', () => {
  const asked = pod('p', near(term('zone', { app: 'web' })));
  for (const deleting of [false, true]) {
    expect(passing(cluster(ab(), [[pod('w', { ...web, deleting }), 'b']]), asked)).toEqual(['b']);
  }
  expect(passing(cluster(ab()), asked)).toEqual([]);
});

test('FT-29: a pod counts only if it meets all terms', () => {
  const made = cluster([node('a', { labels: { zone: 'a', rack: '1' } })], [[pod('w', web), 'a']]);
  expect(passing(made, pod('p', near(term('zone', { app: 'web' }), term('rack', { tier: 'x' }))))).toEqual([]);
});

test('FT-30: the first of its kind may go anywhere with the label', () => {
  const made = cluster([...ab(), node('c')]);
  expect(passing(made, pod('p', { ...web, ...near(term('zone', { app: 'web' })) }))).toEqual(['a', 'b']);
});

test('FT-31: anti-affinity by zone leaves other zones and nodes without one', () => {
  const made = cluster(
    [node('a1', zone('a')), node('a2', zone('a')), node('b', zone('b')), node('c')],
    [[pod('w', web), 'a1']],
  );
  expect(passing(made, pod('p', apart(term('zone', { app: 'web' }))))).toEqual(['b', 'c']);
});

test('FT-32: the anti-affinity of a pod that is there counts as well', () => {
  const made = cluster(ab(), [[pod('shy', apart(term('zone', { app: 'web' }))), 'a']]);
  expect(passing(made, pod('p', web))).toEqual(['b']);
  expect(refusals(made, pod('p', web), 'a')).toMatchObject([{ cause: 'ExistingAntiAffinity', holder: 'default/shy' }]);
});

test('FT-33: namespaces of a term', () => {
  const placed: [Pod, string][] = [
    [pod('w1', { ...web, namespace: 'ns1' }), 'a'],
    [pod('w2', { ...web, namespace: 'ns2' }), 'b'],
  ];
  const made = cluster([...ab(), node('c', zone('c'))], placed);
  made.namespaceLabels.set('ns1', { team: 'x' });
  const asked = (more: object) => passing(made, pod('p', apart(term('zone', { app: 'web' }, more))));
  expect(asked({ namespaceSelector: { matchLabels: { team: 'x' } } })).toEqual(['b', 'c']);
  expect(asked({ namespaceSelector: {} })).toEqual(['c']);
  expect(asked({})).toEqual(['a', 'b', 'c']);
});

test('FT-34: a term without a selector matches no pod', () => {
  const made = cluster(ab(), [[pod('w', web), 'a']]);
  expect(passing(made, pod('p', apart(term('zone', undefined))))).toEqual(['a', 'b']);
  expect(passing(made, pod('p', near(term('zone', undefined))))).toEqual([]);
});

test('FT-35: matchLabelKeys narrow a term to pods of the same value', () => {
  const old = pod('old', { labels: { app: 'web', 'pod-template-hash': '1' } });
  const made = cluster(ab(), [[old, 'a']]);
  const asked = (hash: string) =>
    pod('p', {
      labels: { app: 'web', 'pod-template-hash': hash },
      ...apart(term('zone', { app: 'web' }, { matchLabelKeys: ['pod-template-hash'] })),
    });
  expect(passing(made, asked('2'))).toEqual(['a', 'b']);
  expect(passing(made, asked('1'))).toEqual(['b']);
});

const spread = (more: object = {}): PodOptions => ({
  ...web,
  topologySpreadConstraints: [
    {
      topologyKey: 'zone',
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
      ...more,
    },
  ],
});

const webs = (...on: string[]): [Pod, string][] => on.map((name, at) => [pod(`w${at}`, web), name]);

const abc = () => [...ab(), node('c', zone('c'))];

test('FT-36: spread by zone', () => {
  expect(passing(cluster(ab(), webs('a', 'a', 'b')), pod('p', spread()))).toEqual(['b']);
  expect(passing(cluster(abc(), webs('a', 'b')), pod('p', spread()))).toEqual(['c']);
});

test('FT-37: zones that the pod cannot choose count only where the rule says so', () => {
  const nodes = [
    node('a', { labels: { zone: 'a', p: '1' } }),
    node('b', { labels: { zone: 'b', p: '1' } }),
    node('c', zone('c')),
  ];
  const made = cluster(nodes, webs('a', 'b'));
  const asked = (policy: string) =>
    passing(made, pod('p', { ...spread({ nodeAffinityPolicy: policy }), nodeSelector: { p: '1' } }));
  expect(asked('Honor')).toEqual(['a', 'b']);
  expect(asked('Ignore')).toEqual([]);
});

test('FT-38: zones whose nodes are tainted count unless the rule says otherwise', () => {
  const nodes = [...ab(), node('c', { ...zone('c'), taints: [{ key: 'x', effect: 'NoSchedule' }] })];
  const made = cluster(nodes, webs('a', 'b'));
  expect(passing(made, pod('p', spread()))).toEqual([]);
  expect(passing(made, pod('p', spread({ nodeTaintsPolicy: 'Honor' })))).toEqual(['a', 'b']);
});

test('FT-39: with fewer domains than asked for, the least is none', () => {
  const asked = pod('p', spread({ minDomains: 3 }));
  expect(passing(cluster(ab(), webs('a', 'b')), asked)).toEqual([]);
  expect(passing(cluster(ab()), asked)).toEqual(['a', 'b']);
});

test('FT-40: pods that terminate are not counted by a spread', () => {
  const placed: [Pod, string][] = [...webs('a', 'b'), [pod('t', { ...web, deleting: true }), 'a']];
  expect(passing(cluster(ab(), placed), pod('p', spread()))).toEqual(['a', 'b']);
});

test('FT-41: spreads without requirements, without a selector, without the label', () => {
  const made = cluster(ab(), webs('a', 'a'));
  expect(passing(made, pod('p', spread({ labelSelector: {} })))).toEqual(['a', 'b']);
  expect(passing(made, pod('p', spread({ labelSelector: undefined })))).toEqual(['a', 'b']);
  expect(refusals(cluster([node('c')]), pod('p', spread()), 'c')).toMatchObject([{ cause: 'MissingLabel' }]);
});
