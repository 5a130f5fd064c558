/** What a webhook said. */
import type { AdmissionResponse } from '../../../api/generated/admission-v1.ts';
import type { StatusBody } from '../../../machinery/runtime/index.ts';
import { isObject } from '../../../machinery/values/index.ts';
import { ApiError } from '../../exchange/status.ts';
import { WebhookCallError } from '../../webhook-call/call.ts';

/** Checks that the answer belongs to the question. Throws WebhookCallError. */
export function readAnswer(answer: unknown, uid: string, mayPatch: boolean): AdmissionResponse {
  const refuse = (why: string) => new WebhookCallError(`received invalid webhook response: ${why}`);
  if (!isObject(answer) || answer['kind'] !== 'AdmissionReview' || answer['apiVersion'] !== 'admission.k8s.io/v1') {
    const got = isObject(answer) ? `${String(answer['apiVersion'])}, Kind=${String(answer['kind'])}` : 'no object';
    throw refuse(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}`);
  }
  const response = answer['response'];
  if (!isObject(response)) throw refuse('webhook response is absent');
  const read = response as AdmissionResponse;
  if (read.uid !== uid) throw refuse(`expected response.uid="${uid}", got "${read.uid ?? ''}"`);
  if (read.patch && !mayPatch) throw refuse('a validating webhook may not return a patch');
  if (read.patch && !read.patchType) throw refuse('webhook returned response.patch but not response.patchType');
  if (!read.patch && read.patchType) throw refuse('webhook returned response.patchType but not response.patch');
  return read;
}

/** The refusal a client sees; code, reason and details are the webhook's own. */
export function denial(name: string, result: StatusBody | undefined): ApiError {
  const denied = `admission webhook "${name}" denied the request`;
  const code = result?.code !== undefined && result.code >= 400 ? result.code : 400;
  const why = result?.message || result?.reason;
  return new ApiError(code, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: why ? `${denied}: ${why}` : `${denied} without explanation`,
    ...(result?.reason && { reason: result.reason }),
    ...(result?.details && { details: result.details }),
    code,
  });
}
