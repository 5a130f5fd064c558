import { expect, test } from 'vitest';
import { Differences, readKnown } from './differences.ts';

const known = readKnown();

test.each(known)('an excuse is for certain requests or answers, not for a class: $reason', (entry) => {
  const { body, kind, mutation, ours, path, real, realSays, says } = entry;
  expect([body, kind, mutation, path, realSays, says].some((pattern) => pattern !== undefined && pattern !== '')).toBe(
    true,
  );
  expect(ours === 'any' && real === 'any').toBe(false);
});

test('a 500 of ours is excused only where nothing runs behind nodes', () => {
  const excusing = known.filter(({ ours }) => ours === 'any' || [ours].flat().includes(500));
  const reasons = excusing.map(({ reason }) => reason.split(/[:,]/, 1)[0]);
  expect(reasons).toEqual(['Nothing runs behind simulated nodes']);
});

test('Differences tells the reason of what is known and counts what is not', () => {
  const differences = new Differences(known);
  const request = {
    method: 'POST',
    path: '/api/v1/namespaces/a/pods',
    headers: {},
    body: undefined,
    identity: 'admin',
    kind: '/pods',
    mutation: 'none',
  } as const;
  const ours = { status: 201, text: '' };
  const unknownAccount = { status: 403, text: 'error looking up service account a/default' };
  expect(differences.add({ request, http: 2, ours, real: unknownAccount })).toMatch('Pods need a service account');
  expect(differences.add({ request, http: 2, ours, real: { status: 403, text: 'no' } })).toBeUndefined();
  expect(differences.total).toBe(1);
});
