/** Validating webhooks, all at once; the first refusal in their order is the answer. */
import type { AdmissionAttributes } from '../../context/admission-plugin.ts';
import type { ServerContext } from '../../context/server-context.ts';
import { converting } from '../../stored/converting.ts';
import { shownIn } from '../versioned.ts';
import type { WebhookCaller } from '../../webhook-call/call.ts';
import { ask, called, guarded, invocationOf, type Webhook } from './invocation.ts';

export async function validate(
  context: ServerContext,
  caller: WebhookCaller,
  webhooks: readonly Webhook[],
  attributes: AdmissionAttributes,
): Promise<void> {
  const invocations = await converting(() =>
    webhooks.flatMap((webhook) => invocationOf(context, webhook, attributes) ?? []),
  );
  if (invocations.length === 0) return;
  const outcomes = await Promise.allSettled(
    invocations.map(async (invocation) => {
      const { object } = attributes;
      const shown = await converting(() => object && shownIn(attributes, object, invocation.version));
      await guarded(context, invocation.webhook, () =>
        called(context, { webhook: invocation.webhook, type: 'validating' }, attributes, () =>
          ask(context, caller, invocation, attributes, { shown, mayPatch: false }),
        ),
      );
    }),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
