import { expect, test } from 'vitest';
import type { StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { decideRetention, isClaimStale } from './retention.ts';

const set = (whenDeleted: string, whenScaled: string, replicas = 3): StatefulSet => ({
  metadata: { name: 'web', uid: 'set' },
  spec: { replicas, template: {}, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } },
});
const pod: Pod = { metadata: { name: 'web-2', uid: 'pod' } };
const owner = (kind: string, name: string, uid: string, controller = true): OwnerReference => ({
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  name,
  uid,
  controller,
});
const claim = (...ownerReferences: OwnerReference[]): PersistentVolumeClaim => ({
  metadata: { name: 'c', ownerReferences },
});
const bySet = owner('StatefulSet', 'web', 'set');
const byPod = owner('Pod', 'web-2', 'pod');
const decide = (given: PersistentVolumeClaim, policy: StatefulSet): string => {
  const verdict = decideRetention(given, policy, pod);
  const owners = 'ownerReferences' in verdict ? verdict.ownerReferences.map(({ uid }) => uid).join(' ') : '';
  return `${verdict.reason} ${owners}`.trim();
};

const cases: [name: string, given: PersistentVolumeClaim, policy: StatefulSet, want: string][] = [
  ['nobody under Retain', claim(), set('Retain', 'Retain'), 'UpToDate'],
  ['nobody any more when the policy turns to Retain', claim(bySet), set('Retain', 'Retain'), 'PolicyChanged'],
  ['the set when it is to go with it', claim(), set('Delete', 'Retain'), 'PolicyChanged set'],
  ['the set still, while the pod is in range', claim(bySet), set('Delete', 'Delete'), 'UpToDate'],
  ['the pod once it is scaled away', claim(bySet), set('Delete', 'Delete', 2), 'PolicyChanged pod'],
  ['nobody while in range when only scaling deletes', claim(byPod), set('Retain', 'Delete'), 'PolicyChanged'],
  [
    'whoever it has while its old set is collected',
    claim(owner('StatefulSet', 'web', 'old')),
    set('Delete', 'Delete'),
    'OwnerReplaced',
  ],
  [
    'another controller, and not us beside it',
    claim(owner('Other', 'x', 'x'), bySet),
    set('Delete', 'Retain'),
    'ConflictingController x',
  ],
  ['another controller alone', claim(owner('Other', 'x', 'x')), set('Delete', 'Retain'), 'UpToDate'],
  [
    'the set as its controller, not as a plain owner',
    claim(owner('StatefulSet', 'web', 'set', false)),
    set('Delete', 'Retain'),
    'PolicyChanged set',
  ],
];
for (const [name, given, policy, want] of cases) {
  test(`decideRetention() gives a claim to ${name}`, () => expect(decide(given, policy)).toBe(want));
}

test('isClaimStale() holds a pod back while its claim hangs on its predecessor', () => {
  expect(isClaimStale(claim(byPod), 'web-2')).toBe(true);
  expect(isClaimStale(claim(bySet), 'web-2')).toBe(false);
});
