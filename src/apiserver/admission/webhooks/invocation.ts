/** One webhook and one request: whether it is to be called, and the call. */
import type { MutatingWebhook, ValidatingWebhook } from '../../../api/generated/admissionregistration-v1.ts';
import type { StatusBody } from '../../../machinery/runtime/index.ts';
import type { LabelSelectorShape } from '../../../machinery/values/index.ts';
import { type AdmissionAttributes, refusedName } from '../../context/admission-plugin.ts';
import { programOf } from '../../cel/compile.ts';
import type { ServerContext } from '../../context/server-context.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { ApiError, badRequest, forbidden, internalError } from '../../exchange/status.ts';
import { requestOf, variablesFor } from '../expressions.ts';
import { matchVersion, namespaceOf } from '../matching.ts';
import { converting } from '../../stored/converting.ts';
import { shownIn } from '../versioned.ts';
import { denial, readAnswer } from './answer.ts';
import type { WebhookType } from '../../measure/admission-meter.ts';
import { type WebhookCaller, WebhookCallError } from '../../webhook-call/call.ts';

export type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;

export interface Invocation {
  readonly webhook: Webhook;
  /** The version the webhook asked for. */
  readonly version: string;
}

const DEFAULT_TIMEOUT_SECONDS = 10;

export function invocationOf(
  context: ServerContext,
  webhook: Webhook,
  attributes: AdmissionAttributes,
): Invocation | undefined {
  const spec = {
    rules: webhook.rules ?? [],
    matchPolicy: webhook.matchPolicy,
    namespaceSelector: webhook.namespaceSelector as LabelSelectorShape | undefined,
    objectSelector: webhook.objectSelector as LabelSelectorShape | undefined,
  };
  const version = matchVersion(context, spec, attributes);
  if (version === undefined) return undefined;
  return conditionsHold(context, webhook, attributes, version) ? { webhook, version } : undefined;
}

/** All must be true. One that is false wins over one that fails; a failure counts as the failure policy says. */
function conditionsHold(
  context: ServerContext,
  { name, matchConditions = [], failurePolicy }: Webhook,
  attributes: AdmissionAttributes,
  version: string,
): boolean {
  if (matchConditions.length === 0) return true;
  const variables = variablesFor(attributes, version, namespaceOf(context, attributes));
  const problems: string[] = [];
  for (const condition of matchConditions) {
    try {
      if (programOf(condition.expression)(variables) !== true) return false;
    } catch (error) {
      problems.push(`${condition.name}: ${(error as Error).message}`);
    }
  }
  if (problems.length === 0) return true;
  if (failurePolicy === 'Ignore') return false;
  throw forbidden(
    attributes.resource,
    refusedName(attributes),
    `webhook "${name}": match conditions failed: ${problems.join(', ')}`,
  );
}

/** A call that fails refuses the request or is passed over, as the failure policy says. */
export async function guarded<T>(
  context: ServerContext,
  webhook: Webhook,
  run: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    const message = `failed calling webhook "${webhook.name}": ${error.message}`;
    if (webhook.failurePolicy !== 'Ignore') throw internalError(message);
    context.log.warn(
      { webhook: webhook.name, err: error },
      'webhook call failed and was ignored, as its failurePolicy says',
    );
    return undefined;
  }
}

/** One call and what came of it, counted; the time it took is none of the request's own. */
export async function called<T>(
  { meters: { admission } }: ServerContext,
  { webhook, type }: { webhook: Webhook; type: WebhookType },
  { operation, timing }: AdmissionAttributes,
  run: () => Promise<T>,
): Promise<T> {
  const startedMs = admission.now();
  const { failurePolicy, name } = webhook;
  const told = (outcome: { code: number; failed: boolean; rejected: boolean }): void => {
    const tookMs = admission.called({ name, type, operation }, startedMs, outcome);
    if (timing !== undefined) timing.webhookMs += tookMs;
  };
  try {
    const answer = await run();
    told({ code: 200, failed: false, rejected: false });
    return answer;
  } catch (error) {
    if (error instanceof ApiError) told({ code: error.code, failed: false, rejected: true });
    else told({ code: 500, failed: true, rejected: failurePolicy !== 'Ignore' });
    if (!(error instanceof ApiError) && failurePolicy === 'Ignore') admission.failedOpen.add({ name, type });
    throw error;
  }
}

export async function ask(
  context: ServerContext,
  caller: WebhookCaller,
  { webhook, version }: Invocation,
  attributes: AdmissionAttributes,
  { shown, mayPatch }: { shown: ApiObject | undefined; mayPatch: boolean },
) {
  const { oldObject } = attributes;
  if (attributes.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
    throw badRequest(`admission webhook "${webhook.name}" does not support dry run`);
  }
  const before = await converting(() => oldObject && shownIn(attributes, oldObject, version));
  const uid = context.newUid();
  const review = {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      ...requestOf(attributes, version),
      object: shown ?? null,
      oldObject: before ?? null,
    },
  };
  let answer: unknown;
  try {
    answer = await caller.post(webhook.clientConfig, webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS, review);
  } catch (error) {
    if (error instanceof WebhookCallError) throw new WebhookCallError(`failed to call webhook: ${error.message}`);
    throw error;
  }
  const response = readAnswer(answer, uid, mayPatch);
  attributes.warnings.push(...(response.warnings ?? []));
  if (response.allowed !== true) throw denial(webhook.name, response.status as StatusBody | undefined);
  return response;
}
