import { expect, test } from 'vitest';
import { formatTime } from '../machinery/values/index.ts';
import { reviewEvictionRequest } from './eviction-requests.ts';
import type { ReviewedObject, ReviewRequest } from './review.ts';

const NOW = Date.parse('2026-11-18T12:00:00Z');
const spec = { target: { pod: { name: 'web', uid: '5477c2ff-f59f-4eb9-a0be-e54232323faa' } } };
const request: ReviewedObject = { spec: { ...spec, requester: 'example.com/drain', intent: 'Eviction' } };
const eviction: ReviewedObject = { spec };

function paths(resource: string, object: ReviewedObject, old?: ReviewedObject, subResource?: string): string[] {
  const review: ReviewRequest = {
    uid: 'u',
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    resource: { group: 'lifecycle.k8s.io', version: 'v1alpha1', resource },
    object,
    // The API server sends null where there was none.
    oldObject: old ?? null,
    ...(subResource !== undefined && { subResource }),
  };
  const { allowed, status } = reviewEvictionRequest({ now: () => NOW }, review);
  const { causes = [] } = (status?.details ?? {}) as { causes?: { field: string }[] };
  expect(allowed).toBe(causes.length === 0);
  return causes.map(({ field }) => field);
}

test('ER-01, ER-02: requests and Evictions are checked when they are made, and what they are about stays', () => {
  expect(paths('evictionrequests', request)).toEqual([]);
  expect(paths('evictionrequests', { spec: {} })).toEqual(['spec.target', 'spec.requester', 'spec.intent']);
  expect(paths('evictions', eviction)).toEqual([]);
  expect(paths('evictions', {})).toEqual(['spec.target']);
  const other = { spec: { target: { pod: { ...spec.target.pod, name: 'api' } } } };
  expect(paths('evictions', other, eviction)).toEqual(['spec.target']);
  expect(paths('evictionrequests', { spec: { ...(request['spec'] as object), intent: 'Withdrawn' } }, request)).toEqual(
    [],
  );
});

test('ER-03, ER-05: statuses are held against those before them, and against the clock', () => {
  const seen = (observedGeneration: number): ReviewedObject => ({ ...request, status: { observedGeneration } });
  expect(paths('evictionrequests', seen(2), seen(1), 'status')).toEqual([]);
  expect(paths('evictionrequests', seen(1), seen(2), 'status')).toEqual(['status.observedGeneration']);
  const begun = (at: number): ReviewedObject => ({
    ...eviction,
    status: {
      observedGeneration: 1,
      targetResponders: [{ name: 'example.com/x', priority: 10_000, state: 'Active' }],
      responders: [{ name: 'example.com/x', startTime: formatTime(at) }],
    },
  });
  expect(paths('evictions', begun(NOW), eviction, 'status')).toEqual([]);
  expect(paths('evictions', begun(NOW - 31_000), eviction, 'status')).toEqual(['status.responders[0].startTime']);
});
