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
import { formatTime, semanticEqual } from '../../machinery/values/index.ts';
import {
  ARMED_ANNOTATION,
  EVICTIONS_CONFIGURATION,
  type OperatorMode,
  type Reach,
  reviewPath,
  SERVICE,
  STATUS_CONFIGURATION,
  URL_ANNOTATION,
  WEBHOOK_CONFIGURATION,
  webhookConfigurations,
  type WebhookOptions,
  withToken,
} from '../../webhook/index.ts';
import { withAuthority } from './ca-bundle.ts';
import { type GuardedNamespaces, namespacesOf } from './guarded-namespaces.ts';

export const webhookConfigurationType = builtinType(
  'ValidatingWebhookConfiguration',
  'admissionregistration.k8s.io',
) as ResourceType<ValidatingWebhookConfiguration>;

/** The other kind differs in nothing that is looked at here. */
const mutatingConfigurationType = builtinType(
  'MutatingWebhookConfiguration',
  'admissionregistration.k8s.io',
) as typeof webhookConfigurationType;

export interface Configuration {
  readonly name: string;
  readonly type: typeof webhookConfigurationType;
  /** Where it is filled; everywhere when absent. */
  readonly modes?: readonly OperatorMode[] | undefined;
}

export const CONFIGURATIONS: readonly Configuration[] = [
  { name: EVICTIONS_CONFIGURATION, type: mutatingConfigurationType },
  { name: STATUS_CONFIGURATION, type: mutatingConfigurationType, modes: ['adopt'] },
  { name: WEBHOOK_CONFIGURATION, type: webhookConfigurationType },
];

export const CONFIGURATION_NAMES = CONFIGURATIONS.map(({ name }) => name);

const LOOK_AGAIN_MS = 30_000;
/** What keeps us from filling a configuration is looked at more often. */
const TRY_AGAIN_MS = 2000;
/** How long API servers may take to learn of a configuration. */
export const ARM_MS = 5000;

/** What the API server must know to reach us, to trust us and to be believed. */
export interface Registration {
  /** PEM of who signs our certificate. */
  readonly authority: string;
  /** First part of the path of every review; absent where callers are told by their certificate. */
  readonly token?: string | undefined;
}

/** How configurations that were installed empty are filled. */
export interface Arming {
  /** Whether this replica keeps them: it leads, and can answer. */
  readonly isLeading: () => boolean;
  readonly options: WebhookOptions;
  readonly namespaces: GuardedNamespaces;
  /** Why requests that are asked about would not be answered; undefined where they would. */
  readonly missing: (reach: Reach) => Promise<string | undefined>;
  /** Why the status of budgets must not be asked about yet: a replica that runs in another mode. */
  readonly notAdopting: () => Promise<string | undefined>;
  /** Whether somebody else still writes the status of budgets, so that it must go on being asked about. */
  readonly othersWrite: () => boolean;
  /** Makes a configuration again that was deleted, empty; false where that is not ours to do. */
  readonly putBack: (type: Configuration['type'], last: ValidatingWebhookConfiguration) => Promise<boolean>;
}

export interface RegistrationKeeper {
  /** What is wrong with a configuration that is there, and on the leader with one that is not. */
  problem(): string | undefined;
  /** Puts what has changed in force. */
  set(change: Partial<Registration>): Promise<void>;
  /** Looks at the lists of namespaces again. */
  look(): Promise<void>;
  /** Sees to it that a namespace is asked about before something is admitted that needs it. */
  guard(namespace: string): Promise<void>;
  /** Whether evictions in a namespace are asked about, and every API server has had the time to learn it. */
  isGuarded(namespace: string): boolean;
  /** Whether every API server has had the time to learn that the status of budgets is asked about, or no longer is. */
  isAdopting(): boolean;
  hasAbandoned(): boolean;
  /** Which configurations were deleted and could not be put back; empty on a replica that does not lead. */
  deleted(): readonly string[];
  /** The configurations that are there. */
  found(): readonly ValidatingWebhookConfiguration[];
}

interface KeeperOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly arming: Arming;
  /** Called when evictions are asked about in more namespaces. */
  readonly guarded?: ((namespaces: readonly string[]) => void) | undefined;
}

/**
 * Keeps what the API server is told about us. Configurations are installed empty, so that nothing is asked before there
 * is somebody to answer; the leading replica fills them then, with the namespaces that need it, and keeps them so. One
 * that somebody else has filled gets our path and authority, from whichever replica is first.
 */
export function keepRegistration(options: KeeperOptions, first: Registration): RegistrationKeeper {
  const { arming, client, clock, log, signal } = options;
  let wanted = first;
  /** What keeps us from filling a configuration, by its name. */
  const waiting = new Map<string, string>();
  /** One that was there and is not any more was deleted; one that never was need not be there. */
  const seenOnce = new Map<string, ValidatingWebhookConfiguration>();
  /** Since when evictions are asked about: everywhere, or in each namespace. */
  const since = new Map<string, number>();
  const look = async (configuration: Configuration, asked = false): Promise<void> => {
    try {
      const missing = await register({ arming, asked, client, clock, log, wanted }, configuration);
      if (missing === undefined) waiting.delete(configuration.name);
      else waiting.set(configuration.name, missing);
    } catch (error) {
      // Another replica was faster; its change comes to us as well.
      if (isNotFound(error) || isConflict(error)) return;
      log.error({ error: String(error) }, 'cannot tell the API server where to ask and whom to trust');
    }
  };
  const lookAtAll = async (asked = false): Promise<void> => {
    for (const configuration of CONFIGURATIONS) await look(configuration, asked);
  };
  /** Whether the status of budgets is asked about, and since when that is so. */
  let adopting = { is: false, sinceMs: clock.elapsed(), isOurs: true };
  const learn = ({ metadata, webhooks = [] }: ValidatingWebhookConfiguration): void => {
    if (metadata.name === STATUS_CONFIGURATION) {
      const is = webhooks.length > 0;
      const ours = isOurs({ metadata, webhooks });
      if (is !== adopting.is) adopting = { is, sinceMs: clock.elapsed(), isOurs: ours };
      // Numbers become ours from then on, or cease to be.
      clock.after(ours ? ARM_MS : 0, () => options.guarded?.([EVERYWHERE]));
    }
    if (metadata.name !== EVICTIONS_CONFIGURATION) return;
    const names = webhooks.length === 0 ? [] : (namespacesOf(webhooks[0] as ValidatingWebhook) ?? [EVERYWHERE]);
    for (const name of since.keys()) if (!names.includes(name)) since.delete(name);
    const fresh = names.filter((name) => !since.has(name));
    for (const name of fresh) since.set(name, clock.elapsed());
    // What others have stated was there before us.
    if (fresh.length > 0) clock.after(isOurs({ metadata, webhooks }) ? ARM_MS : 0, () => options.guarded?.(fresh));
  };
  const informers = CONFIGURATIONS.map((configuration) => {
    const { name, type } = configuration;
    const informer = new Informer({ client, clock, log, type, fieldSelector: `metadata.name=${name}` });
    const seen = (found: ValidatingWebhookConfiguration): void => {
      seenOnce.set(name, found);
      learn(found);
      void look(configuration);
    };
    const missed = (): void => {
      learn({ metadata: { name } });
      clock.after(PUT_BACK_MS, () => void putBack(configuration));
    };
    informer.addHandler({ added: seen, updated: seen, deleted: missed });
    informer.start(signal);
    return informer;
  });
  const found = (): ValidatingWebhookConfiguration[] => informers.flatMap((informer) => informer.list());
  const gone = (): Configuration[] => {
    const names = found().map(({ metadata }) => metadata.name);
    return CONFIGURATIONS.filter(({ name }) => seenOnce.has(name) && !names.includes(name));
  };
  const putBack = async (configuration: Configuration): Promise<void> => {
    const last = seenOnce.get(configuration.name);
    if (last === undefined || signal.aborted || !arming.isLeading() || !gone().includes(configuration)) return;
    try {
      if (await arming.putBack(configuration.type, last)) {
        log.warn({ configuration: configuration.name }, 'a webhook configuration was deleted and has been put back');
      }
    } catch (error) {
      log.error({ configuration: configuration.name, error: String(error) }, 'cannot put a configuration back');
    }
    // Whether it is there again or is missed: budgets say so.
    options.guarded?.([EVERYWHERE]);
  };
  const again = (): void => {
    if (signal.aborted) return;
    const delayMs = waiting.size === 0 ? LOOK_AGAIN_MS : TRY_AGAIN_MS;
    const cancel = clock.after(delayMs, () => {
      for (const configuration of gone()) void putBack(configuration);
      void lookAtAll().then(again);
    });
    signal.addEventListener('abort', cancel, { once: true });
  };
  again();
  return {
    problem() {
      const all = found();
      const now = clock.now();
      const bad = all.flatMap(({ webhooks = [] }) => webhooks).filter((one) => !isFilledIn(one, wanted, now));
      if (bad.length > 0) {
        return `${bad.map(({ name }) => name).join(', ')}: the API server lacks our path or our authority`;
      }
      const missed = arming.isLeading() ? gone() : [];
      return missed.length > 0
        ? `${missed.map(({ name }) => name).join(', ')}: deleted; apply the manifests again`
        : undefined;
    },
    async set(change) {
      wanted = { ...wanted, ...change };
      await lookAtAll();
    },
    look: () => lookAtAll(),
    async guard(namespace) {
      arming.namespaces.add(namespace);
      await lookAtAll(true);
    },
    isGuarded(namespace) {
      const at = since.get(namespace) ?? since.get(EVERYWHERE);
      if (at === undefined) return false;
      const configuration = found().find(({ metadata }) => metadata.name === EVICTIONS_CONFIGURATION);
      return (configuration && !isOurs(configuration)) || clock.elapsed() - at >= ARM_MS;
    },
    isAdopting: () => adopting.is && (!adopting.isOurs || clock.elapsed() - adopting.sinceMs >= ARM_MS),
    hasAbandoned: () => !adopting.is && clock.elapsed() - adopting.sinceMs >= ARM_MS,
    deleted: () => (arming.isLeading() ? gone().map(({ name }) => name) : []),
    found,
  };
}

const EVERYWHERE = '*';
/** Who removes an installation removes more than a configuration within this time. */
const PUT_BACK_MS = 1000;

/** Filled, or to be filled, by the leading replica. */
function isOurs({ metadata, webhooks = [] }: ValidatingWebhookConfiguration): boolean {
  return webhooks.length === 0 || metadata.annotations?.[ARMED_ANNOTATION] !== undefined;
}

interface Registering extends Pick<KeeperOptions, 'arming' | 'client' | 'clock' | 'log'> {
  readonly wanted: Registration;
  /** Also by a replica that does not lead: something is about to be admitted that needs it. */
  readonly asked: boolean;
}

/** Puts a configuration in order; says what keeps it from being filled. */
async function register(
  { arming, asked, client, clock, log, wanted }: Registering,
  { name, type }: Configuration,
): Promise<string | undefined> {
  const found = await client.get(type, { name });
  const { annotations = {}, resourceVersion } = found.metadata;
  const isArmed = annotations[ARMED_ANNOTATION] !== undefined;
  let stated = found.webhooks ?? [];
  if (isOurs(found)) {
    if (!arming.isLeading() && !(asked && isArmed)) return undefined;
    const url = annotations[URL_ANNOTATION];
    const reach: Reach = url === undefined ? { service: SERVICE } : { url, caBundle: wanted.authority };
    const adopts = name === STATUS_CONFIGURATION && arming.options.mode === 'adopt';
    // A leader of another mode may have left it empty on purpose.
    const begins = adopts && stated.length === 0;
    const missing =
      (isArmed ? undefined : await arming.missing(reach)) ?? (begins ? await arming.notAdopting() : undefined);
    if (missing !== undefined) return missing;
    for (const one of stated) arming.namespaces.known(one);
    // Whoever goes on counting beside us would put in numbers that let pass what we refuse.
    const stays = name === STATUS_CONFIGURATION && arming.options.mode === 'replace' && stated.length > 0;
    const adopted = stays && arming.othersWrite() ? { mode: 'adopt' as const } : {};
    const options = { ...arming.options, ...adopted, guarded: arming.namespaces.lists() };
    const whole = webhookConfigurations(options, reach).find(({ metadata }) => metadata.name === name);
    stated = whole?.webhooks ?? [];
  }
  const known = new Map((found.webhooks ?? []).map((one) => [one.name, one.clientConfig?.caBundle]));
  const webhooks = stated.map((one) => ({
    ...one,
    clientConfig: filledIn(withBundle(one, known.get(one.name)), wanted, clock.now()),
  }));
  const arms = isOurs(found) && !isArmed;
  if (!arms && semanticEqual(webhooks, found.webhooks ?? [])) return undefined;
  const armed = { annotations: { [ARMED_ANNOTATION]: formatTime(clock.now()) } };
  // The list is replaced whole, so it must be the one that was read.
  const body = { metadata: { resourceVersion, ...(arms ? armed : {}) }, webhooks };
  await client.patch(type, { name }, { type: 'merge', body });
  log.info(
    { configuration: name, webhooks: webhooks.length },
    'the API server knows where to ask and whom to trust now',
  );
  return undefined;
}

function isFilledIn(webhook: ValidatingWebhook, wanted: Registration, now: number): boolean {
  return semanticEqual(filledIn(webhook, wanted, now), webhook.clientConfig);
}

/** What is stated anew does not say whom the API server trusts already. */
function withBundle(webhook: ValidatingWebhook, caBundle: string | undefined): ValidatingWebhook {
  return caBundle === undefined ? webhook : { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } };
}

function filledIn(
  { clientConfig, name }: ValidatingWebhook,
  { authority, token }: Registration,
  now: number,
): ValidatingWebhook['clientConfig'] {
  const bundle = Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8');
  const caBundle = Buffer.from(withAuthority(bundle, authority, now)).toString('base64');
  const plain = reviewPath(name);
  // A webhook that is not ours in an object that is: its path is not ours to choose.
  if (plain === undefined) return clientConfig;
  const path = withToken(token, plain);
  if (clientConfig?.service) return { ...clientConfig, caBundle, service: { ...clientConfig.service, path } };
  if (!clientConfig?.url) return { ...clientConfig, caBundle };
  return { ...clientConfig, caBundle, url: `${new URL(clientConfig.url).origin}${path}` };
}
