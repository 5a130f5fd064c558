import type { KubeObject } from '../api/resource.ts';
import type { StatusBody } from '../machinery/runtime/index.ts';
import { formatIssues, isObject, type Issue } from '../machinery/values/index.ts';

/** Who makes the request, as the API server knows them. */
export interface Requester {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** An object as it is sent, of whatever kind. */
export interface ReviewedObject extends Partial<KubeObject> {
  readonly [field: string]: unknown;
}

/** What the API server asks: may this request pass? */
export interface ReviewRequest {
  readonly uid: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly userInfo?: Requester;
  readonly object?: ReviewedObject | null;
  readonly oldObject?: ReviewedObject | null;
  readonly options?: Record<string, unknown> | null;
  readonly dryRun?: boolean;
}

/** The answer. A refusal carries a Status, which the API server hands to the client as it is where its code is 400 or more. */
export interface ReviewResponse {
  readonly allowed: boolean;
  readonly status?: StatusBody;
  readonly warnings?: readonly string[];
  /** Only from a webhook that may change the object: a JSON patch, in base64. */
  readonly patch?: string;
  readonly patchType?: 'JSONPatch';
}

export const allow: ReviewResponse = { allowed: true };

/** Lets a request pass with these changes. */
export function allowWith(steps: readonly object[]): ReviewResponse {
  if (steps.length === 0) return allow;
  const patch = Buffer.from(JSON.stringify(steps)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}

export function refuse(status: StatusBody): ReviewResponse {
  return { allowed: false, status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...status } };
}

/** Refuses an object for what is wrong in it. */
export function refuseInvalid(issues: readonly Issue[], { code = 422, reason = 'Invalid' } = {}): ReviewResponse {
  const causes = issues.map(({ message, path, rule }) => ({ reason: rule, message, field: path }));
  return refuse({ code, reason, message: formatIssues(issues), details: { causes } });
}

/** The body was no AdmissionReview. */
export class ReviewFormatError extends Error {
  override name = 'ReviewFormatError';
}

export function parseReview(body: string): ReviewRequest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (cause) {
    throw new ReviewFormatError('the body is not JSON', { cause });
  }
  if (!isObject(parsed) || parsed['kind'] !== 'AdmissionReview' || parsed['apiVersion'] !== 'admission.k8s.io/v1') {
    throw new ReviewFormatError('the body is not an AdmissionReview of admission.k8s.io/v1');
  }
  const request = parsed['request'];
  if (!isObject(request) || typeof request['uid'] !== 'string' || !isObject(request['resource'])) {
    throw new ReviewFormatError('the AdmissionReview carries no request');
  }
  // An API server always knows who asks; that nobody does is nobody's review.
  const user = request['userInfo'];
  if (!isObject(user) || typeof user['username'] !== 'string' || user['username'] === '') {
    throw new ReviewFormatError('the AdmissionReview does not say who makes the request');
  }
  // What is not checked above comes from the API server as it is.
  return request as unknown as ReviewRequest;
}

export function formatReview(uid: string, response: ReviewResponse): string {
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, ...response } });
}
