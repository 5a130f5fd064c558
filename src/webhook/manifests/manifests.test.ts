import { expect, test } from 'vitest';
import { defaultInstall, type InstallOptions, installObjects, webhookConfigurations } from './index.ts';

const namesOf = (options: Partial<InstallOptions>): string[] =>
  installObjects({ ...defaultInstall, ...options }).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
const DEFINITIONS = [
  'CustomResourceDefinition/evictionrequests.lifecycle.k8s.io',
  'CustomResourceDefinition/evictions.lifecycle.k8s.io',
];
const ROLES = ['ClusterRole/quorate-eviction-requests-view', 'ClusterRole/quorate-eviction-requests-edit'];

test('ER-20: definitions of EvictionRequest come only where a cluster has none, with the rights of its users', () => {
  const native = namesOf({});
  for (const name of [...DEFINITIONS, ...ROLES]) expect(native).not.toContain(name);
  expect(namesOf({ requestKinds: 'crd' })).toEqual(expect.arrayContaining([...DEFINITIONS, ...ROLES]));
  const without = namesOf({ requestKinds: 'crd', evictionRequests: false });
  for (const name of [...DEFINITIONS, ...ROLES]) expect(without).not.toContain(name);
});

test('ER-20: who serves the kinds itself is not asked about them', () => {
  const asked = (requestKinds: InstallOptions['requestKinds']): (string[] | undefined)[] =>
    webhookConfigurations({ namespace: 'q', failOpen: false, certManager: false, requestKinds })
      .flatMap(({ webhooks = [] }) => webhooks)
      .filter(({ name }) => name === 'requests.quorate.dev')
      .map(({ rules = [] }) => rules[0]?.resources);
  expect(asked('native')).toEqual([]);
  expect(asked('crd')).toEqual([['evictionrequests', 'evictionrequests/status', 'evictions', 'evictions/status']]);
});
