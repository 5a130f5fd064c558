import { recordEviction } from './eviction.ts';
import type { ReviewResponse } from './review.ts';

/** The answer alone. */
export async function reviewEviction(...asked: Parameters<typeof recordEviction>): Promise<ReviewResponse> {
  return (await recordEviction(...asked)).response;
}

/** A review of a new pod, as an API server sends it. */
export const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u1',
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'pods' },
    userInfo: { username: 'alice' },
  },
});
