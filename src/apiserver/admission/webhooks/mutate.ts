/**
 * Mutating webhooks, one after the other, each seeing what the ones before it did. Those that ask for it (IfNeeded) are
 * called once more when the object changed after them.
 */
import { deepEqual } from '../../../machinery/values/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../context/admission-plugin.ts';
import type { ServerContext } from '../../context/server-context.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { internalError } from '../../exchange/status.ts';
import { converting } from '../../stored/converting.ts';
import { shownIn, storedFrom } from '../versioned.ts';
import { type WebhookCaller, WebhookCallError } from '../../webhook-call/call.ts';
import { ask, called, guarded, type Invocation, invocationOf, type Webhook } from './invocation.ts';

export async function mutate(
  context: ServerContext,
  caller: WebhookCaller,
  { webhooks, builtins }: { webhooks: readonly Webhook[]; builtins: readonly AdmissionPlugin[] },
  attributes: AdmissionAttributes,
): Promise<void> {
  /** Those to call once more if the object changes after them. */
  const again = new Set<Webhook>();
  let changed = false;
  let anyChange = false;
  const callOne = async (webhook: Webhook, round: number): Promise<void> => {
    const invocation = await converting(() => invocationOf(context, webhook, attributes));
    if (invocation === undefined) return;
    const didChange = await mutateWith(context, caller, invocation, attributes);
    if (didChange) changed = true;
    if (round === 0 && webhook.reinvocationPolicy === 'IfNeeded') again.add(webhook);
  };
  const before: Webhook[] = [];
  const wanted = new Set<Webhook>();
  for (const webhook of webhooks) {
    changed = false;
    await callOne(webhook, 0);
    anyChange ||= changed;
    if (changed) for (const earlier of before) if (again.has(earlier)) wanted.add(earlier);
    before.push(webhook);
  }
  if (anyChange) {
    const state = JSON.stringify(attributes.object);
    for (const plugin of builtins) {
      if (plugin.admit !== undefined && plugin.handles(attributes)) await plugin.admit(attributes);
    }
    if (JSON.stringify(attributes.object) !== state) for (const webhook of again) wanted.add(webhook);
  }
  for (const webhook of webhooks) if (wanted.has(webhook)) await callOne(webhook, 1);
}

/** Returns whether the object changed. */
async function mutateWith(
  context: ServerContext,
  caller: WebhookCaller,
  { webhook, version }: Invocation,
  attributes: AdmissionAttributes,
): Promise<boolean> {
  const { object } = attributes;
  const shown = await converting(() => object && shownIn(attributes, object, version));
  const hidden = shown === undefined || attributes.operation !== 'CREATE' ? {} : hideSystemFields(shown);
  const response = await guarded(context, webhook, () =>
    called(context, { webhook, type: 'admit' }, attributes, () =>
      ask(context, caller, { webhook, version }, attributes, { shown, mayPatch: true }),
    ),
  );
  if (response === undefined || !response.patch) return false;
  if (shown === undefined) {
    throw internalError(
      `admission webhook "${webhook.name}" attempted to modify the object, which is not supported for this operation`,
    );
  }
  const patched = await guarded(context, webhook, () =>
    Promise.resolve(applyPatch(context, shown, response.patch as string, response.patchType)),
  );
  if (patched === undefined || deepEqual(patched, shown)) return false;
  patched.metadata = { ...patched.metadata, ...hidden };
  const stored = await converting(() => storedFrom(attributes, patched, version));
  attributes.resource.strategy.defaults?.(stored);
  attributes.object = stored;
  return true;
}

/** Before an object is created it has no identity yet; what the server prepared is put back afterwards. */
function hideSystemFields(shown: ApiObject): Partial<ApiObject['metadata']> {
  const { uid, creationTimestamp, generation, ...rest } = shown.metadata;
  shown.metadata = rest;
  return {
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(generation !== undefined && { generation }),
  };
}

function applyPatch(context: ServerContext, shown: ApiObject, patch: string, type: string | undefined): ApiObject {
  if (type !== 'JSONPatch') throw new WebhookCallError(`unsupported patch type "${type ?? ''}"`);
  let operations: unknown;
  try {
    operations = JSON.parse(Buffer.from(patch, 'base64').toString('utf8'));
  } catch (error) {
    throw new WebhookCallError(`received undecodable patch in webhook response: ${(error as Error).message}`);
  }
  if (!Array.isArray(operations)) throw new WebhookCallError('received undecodable patch in webhook response');
  return context.codec.jsonPatch(shown, operations);
}
