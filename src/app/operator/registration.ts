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
  sleep,
} from '../../machinery/runtime/index.ts';
import { formatTime, semanticEqual } from '../../machinery/values/index.ts';
import {
  ARMED_ANNOTATION,
  EVICTIONS_CONFIGURATION,
  LINK_CONFIGURATION,
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
import type { GuardedNamespaces } from './guarded-namespaces.ts';
import { EVERYWHERE, isOurs, LearnedWebhooks } from './learned-webhooks.ts';

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
  { name: LINK_CONFIGURATION, type: mutatingConfigurationType },
  { name: WEBHOOK_CONFIGURATION, type: webhookConfigurationType },
];

export const CONFIGURATION_NAMES = CONFIGURATIONS.map(({ name }) => name);

const LOOK_AGAIN_MS = 30_000;
/** What keeps us from filling a configuration is looked at more often. */
const TRY_AGAIN_MS = 2000;

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
  /** What is wrong with the configurations that are there. */
  problem(): string | undefined;
  /** Whether reviews come through our Service; they may be sent to a URL instead. */
  isBehindService(): boolean;
  /** Puts what has changed in force. */
  set(change: Partial<Registration>): Promise<void>;
  /** Looks at the lists of namespaces again. */
  look(): Promise<void>;
  /** Sees to it that a namespace is asked about before something is admitted that needs it. */
  guard(namespace: string): Promise<void>;
  /** Sees to it that new pods of a namespace are asked about; resolves when every API server has had the time to learn it. */
  expect(namespace: string, signal: AbortSignal): Promise<void>;
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
  const keeper = new WebhookKeeper(options, first);
  keeper.start();
  return keeper;
}

class WebhookKeeper implements RegistrationKeeper {
  readonly #options: KeeperOptions;
  readonly #learned: LearnedWebhooks;
  /** What keeps us from filling a configuration, by its name. */
  readonly #waiting = new Map<string, string>();
  /** One that was there and is not any more was deleted; one that never was need not be there. */
  readonly #seenOnce = new Map<string, ValidatingWebhookConfiguration>();
  #wanted: Registration;
  #informers: readonly Informer<ValidatingWebhookConfiguration>[] = [];
  /** A property, as metrics take it by itself. */
  readonly found = (): ValidatingWebhookConfiguration[] => this.#informers.flatMap((informer) => informer.list());

  constructor(options: KeeperOptions, first: Registration) {
    this.#options = options;
    this.#wanted = first;
    this.#learned = new LearnedWebhooks(options.clock, (namespaces) => options.guarded?.(namespaces));
  }

  start(): void {
    this.#informers = CONFIGURATIONS.map((configuration) => this.#follow(configuration));
    this.#again();
  }

  problem(): string | undefined {
    const now = this.#options.clock.now();
    const all = this.found().flatMap(({ webhooks = [] }) => webhooks);
    const bad = all.filter((one) => !isFilledIn(one, this.#wanted, now));
    if (bad.length === 0) return undefined;
    return `${bad.map(({ name }) => name).join(', ')}: the API server lacks our path or our authority`;
  }

  isBehindService(): boolean {
    return [...this.#seenOnce.values()].every(({ metadata }) => metadata.annotations?.[URL_ANNOTATION] === undefined);
  }

  async set(change: Partial<Registration>): Promise<void> {
    this.#wanted = { ...this.#wanted, ...change };
    await this.look();
  }

  async look(asked = false): Promise<void> {
    for (const configuration of CONFIGURATIONS) await this.#lookAt(configuration, asked);
  }

  async guard(namespace: string): Promise<void> {
    this.#options.arming.namespaces.add(namespace);
    await this.look(true);
  }

  async expect(namespace: string, signal: AbortSignal): Promise<void> {
    const { arming, clock } = this.#options;
    arming.namespaces.expect(namespace);
    await this.look(true);
    const link = (): ValidatingWebhookConfiguration | undefined =>
      this.found().find(({ metadata }) => metadata.name === LINK_CONFIGURATION);
    // One that is not there is not waited for.
    while (!signal.aborted && link() !== undefined && !this.#learned.isLinked(namespace, link())) {
      await sleep(clock, EXPECT_STEP_MS, signal);
    }
  }

  isGuarded(namespace: string): boolean {
    const configuration = this.found().find(({ metadata }) => metadata.name === EVICTIONS_CONFIGURATION);
    return this.#learned.isGuarded(namespace, configuration);
  }

  isAdopting(): boolean {
    return this.#learned.isAdopting();
  }

  hasAbandoned(): boolean {
    return this.#learned.hasAbandoned();
  }

  deleted(): readonly string[] {
    return this.#options.arming.isLeading() ? this.#gone().map(({ name }) => name) : [];
  }

  #follow(configuration: Configuration): Informer<ValidatingWebhookConfiguration> {
    const { client, clock, log, signal } = this.#options;
    const { name, type } = configuration;
    const informer = new Informer({ client, clock, log, type, fieldSelector: `metadata.name=${name}` });
    const seen = (found: ValidatingWebhookConfiguration): void => {
      this.#seenOnce.set(name, found);
      this.#learned.see(found);
      void this.#lookAt(configuration, false);
    };
    const missed = (): void => {
      this.#learned.see({ metadata: { name } });
      clock.after(PUT_BACK_MS, () => void this.#putBack(configuration));
    };
    informer.addHandler({ added: seen, updated: seen, deleted: missed });
    informer.start(signal);
    return informer;
  }

  #gone(): Configuration[] {
    const names = this.found().map(({ metadata }) => metadata.name);
    return CONFIGURATIONS.filter(({ name }) => this.#seenOnce.has(name) && !names.includes(name));
  }

  async #lookAt(configuration: Configuration, asked: boolean): Promise<void> {
    try {
      const missing = await register({ ...this.#options, asked, wanted: this.#wanted }, configuration);
      if (missing === undefined) this.#waiting.delete(configuration.name);
      else this.#waiting.set(configuration.name, missing);
    } catch (error) {
      // Another replica was faster, and its change comes to us as well; or we are stopping.
      const { log, signal } = this.#options;
      if (isNotFound(error) || isConflict(error) || signal.aborted) return;
      log.error({ error: String(error) }, 'cannot update the webhook configuration; trying again');
    }
  }

  async #putBack(configuration: Configuration): Promise<void> {
    const { arming, guarded, log, signal } = this.#options;
    const { name, type } = configuration;
    const last = this.#seenOnce.get(name);
    if (last === undefined || signal.aborted || !this.deleted().includes(name)) return;
    try {
      if (await arming.putBack(type, last)) {
        log.warn({ configuration: name }, 'a webhook configuration was deleted and has been put back');
      }
    } catch (error) {
      log.error({ configuration: name, error: String(error) }, 'cannot put a configuration back');
    }
    // Whether it is there again or is missed: budgets say so.
    guarded?.([EVERYWHERE]);
  }

  #again(): void {
    const { clock, signal } = this.#options;
    if (signal.aborted) return;
    const delayMs = this.#waiting.size === 0 ? LOOK_AGAIN_MS : TRY_AGAIN_MS;
    const cancel = clock.after(delayMs, () => {
      for (const configuration of this.#gone()) void this.#putBack(configuration);
      void this.look().then(() => this.#again());
    });
    signal.addEventListener('abort', cancel, { once: true });
  }
}

const EXPECT_STEP_MS = 100;

/** Who removes an installation removes more than a configuration within this time. */
const PUT_BACK_MS = 1000;

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
  log.info({ configuration: name, webhooks: webhooks.length }, 'updated the webhook configuration');
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
