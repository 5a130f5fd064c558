import type { ValidatingWebhookConfiguration } from '../../api/generated/admissionregistration-v1.ts';
import { builtinType } from '../../api/registry.ts';
import type { ResourceType } from '../../api/resource.ts';
import { type Client, type Clock, isNotFound, type Logger } from '../../machinery/runtime/index.ts';
import { WEBHOOK_CONFIGURATION } from '../../webhook/index.ts';

export const webhookConfigurationType = builtinType(
  'ValidatingWebhookConfiguration',
  'admissionregistration.k8s.io',
) as ResourceType<ValidatingWebhookConfiguration>;

const LOOK_AGAIN_MS = 30_000;

export interface AuthorityKeeper {
  /** Puts another authority in force. */
  set(authority: string): Promise<void>;
}

/**
 * Tells the API server whom to trust, and looks now and then whether it still does: the configuration may be applied
 * after we started, or made anew without the bundle. Without a configuration nothing is asked of us yet.
 */
export function keepAuthority(
  { client, clock, log, signal }: { client: Client; clock: Clock; log: Logger; signal: AbortSignal },
  first: string,
): AuthorityKeeper {
  let authority = first;
  const look = async (): Promise<void> => {
    try {
      await injectAuthority(client, authority, log);
    } catch (error) {
      if (!isNotFound(error)) log.error({ error: String(error) }, 'cannot tell the API server whom to trust');
    }
  };
  const arm = (): void => {
    if (signal.aborted) return;
    const cancel = clock.after(LOOK_AGAIN_MS, () => void look().then(arm));
    signal.addEventListener('abort', cancel, { once: true });
  };
  arm();
  return {
    async set(next) {
      authority = next;
      await look();
    },
  };
}

async function injectAuthority(client: Client, authority: string, log: Logger): Promise<void> {
  const caBundle = Buffer.from(authority).toString('base64');
  const found = await client.get(webhookConfigurationType, { name: WEBHOOK_CONFIGURATION });
  if ((found.webhooks ?? []).every(({ clientConfig }) => clientConfig?.caBundle === caBundle)) return;
  const webhooks = (found.webhooks ?? []).map((one) => ({ ...one, clientConfig: { ...one.clientConfig, caBundle } }));
  // The list is replaced whole, so it must be the one that was read.
  const body = { metadata: { resourceVersion: found.metadata.resourceVersion }, webhooks };
  await client.patch(webhookConfigurationType, { name: WEBHOOK_CONFIGURATION }, { type: 'merge', body });
  log.info({ configuration: WEBHOOK_CONFIGURATION }, 'the API server trusts our certificate now');
}
