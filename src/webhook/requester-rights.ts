import type { Client } from '../machinery/runtime/index.ts';
import type { Requester } from './review.ts';

export interface AskedRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Absent: in all namespaces. */
  readonly namespace?: string | undefined;
}

/** Asks the API server whether whoever makes a request may do something else. */
export async function mayDo(
  client: Client,
  { extra, groups, uid, username }: Requester,
  resourceAttributes: AskedRight,
): Promise<boolean> {
  const review = await client.request<{ status?: { allowed?: boolean } }>(
    'POST',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, uid, groups, extra, resourceAttributes },
    },
  );
  return review.status?.allowed === true;
}
