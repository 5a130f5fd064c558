import type {
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../api/generated/admissionregistration-v1.ts';
import { builtinType } from '../../api/registry.ts';
import type { ResourceType } from '../../api/resource.ts';
import {
  type Client,
  type Clock,
  Informer,
  isConflict,
  isNotFound,
  type Logger,
} from '../../machinery/runtime/index.ts';
import { EVICTIONS_CONFIGURATION, reviewPath, WEBHOOK_CONFIGURATION, withToken } from '../../webhook/index.ts';

export const webhookConfigurationType = builtinType(
  'ValidatingWebhookConfiguration',
  'admissionregistration.k8s.io',
) as ResourceType<ValidatingWebhookConfiguration>;

/** The other kind differs in nothing that is looked at here. */
const mutatingConfigurationType = builtinType(
  'MutatingWebhookConfiguration',
  'admissionregistration.k8s.io',
) as typeof webhookConfigurationType;

interface Configuration {
  readonly name: string;
  readonly type: typeof webhookConfigurationType;
}

const CONFIGURATIONS: readonly Configuration[] = [
  { name: EVICTIONS_CONFIGURATION, type: mutatingConfigurationType },
  { name: WEBHOOK_CONFIGURATION, type: webhookConfigurationType },
];

const LOOK_AGAIN_MS = 30_000;

/** What the API server must know to reach us, to trust us and to be believed. */
export interface Registration {
  /** PEM of who signs our certificate. */
  readonly authority: string;
  /** First part of the path of every review; absent where callers are told by their certificate. */
  readonly token?: string | undefined;
}

export interface RegistrationKeeper {
  /** What is wrong with a configuration that is there; none is not wrong. */
  problem(): string | undefined;
  /** Puts what has changed in force. */
  set(change: Partial<Registration>): Promise<void>;
}

/**
 * Fills in what the manifests leave out, and again whenever it is missing: the configuration may be applied after we
 * started, or made anew. Without a configuration nothing is asked of us yet.
 */
export function keepRegistration(
  { client, clock, log, signal }: { client: Client; clock: Clock; log: Logger; signal: AbortSignal },
  first: Registration,
): RegistrationKeeper {
  let wanted = first;
  const look = async (configuration: Configuration): Promise<void> => {
    try {
      await register(client, wanted, { ...configuration, log });
    } catch (error) {
      // Another replica was faster; its change comes to us as well.
      if (isNotFound(error) || isConflict(error)) return;
      log.error({ error: String(error) }, 'cannot tell the API server where to ask and whom to trust');
    }
  };
  const lookAtAll = async (): Promise<void> => {
    for (const configuration of CONFIGURATIONS) await look(configuration);
  };
  const informers = CONFIGURATIONS.map((configuration) => {
    const { name, type } = configuration;
    const informer = new Informer({ client, clock, log, type, fieldSelector: `metadata.name=${name}` });
    informer.addHandler({ added: () => void look(configuration), updated: () => void look(configuration) });
    informer.start(signal);
    return informer;
  });
  const arm = (): void => {
    if (signal.aborted) return;
    const cancel = clock.after(LOOK_AGAIN_MS, () => void lookAtAll().then(arm));
    signal.addEventListener('abort', cancel, { once: true });
  };
  arm();
  return {
    problem() {
      const found = informers.flatMap((informer) => informer.list()).flatMap(({ webhooks = [] }) => webhooks);
      const bad = found.filter((one) => !isFilledIn(one, wanted)).map(({ name }) => name);
      return bad.length === 0 ? undefined : `${bad.join(', ')}: the API server lacks our path or our authority`;
    },
    async set(change) {
      wanted = { ...wanted, ...change };
      await lookAtAll();
    },
  };
}

async function register(
  client: Client,
  wanted: Registration,
  { log, name, type }: Configuration & { log: Logger },
): Promise<void> {
  const found = await client.get(type, { name });
  const webhooks = (found.webhooks ?? []).map((one) => ({ ...one, clientConfig: filledIn(one, wanted) }));
  if (JSON.stringify(webhooks) === JSON.stringify(found.webhooks ?? [])) return;
  // The list is replaced whole, so it must be the one that was read.
  const body = { metadata: { resourceVersion: found.metadata.resourceVersion }, webhooks };
  await client.patch(type, { name }, { type: 'merge', body });
  log.info({ configuration: name }, 'the API server knows where to ask and whom to trust now');
}

function isFilledIn(webhook: ValidatingWebhook, wanted: Registration): boolean {
  return JSON.stringify(filledIn(webhook, wanted)) === JSON.stringify(webhook.clientConfig);
}

function filledIn(
  { clientConfig, name }: ValidatingWebhook,
  { authority, token }: Registration,
): ValidatingWebhook['clientConfig'] {
  const caBundle = Buffer.from(authority).toString('base64');
  const plain = reviewPath(name);
  // A webhook that is not ours in an object that is: its path is not ours to choose.
  if (plain === undefined) return clientConfig;
  const path = withToken(token, plain);
  if (clientConfig?.service) return { ...clientConfig, caBundle, service: { ...clientConfig.service, path } };
  if (!clientConfig?.url) return { ...clientConfig, caBundle };
  return { ...clientConfig, caBundle, url: `${new URL(clientConfig.url).origin}${path}` };
}
