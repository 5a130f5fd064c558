/** What every API server has had the time to learn of our webhook configurations. */
import type {
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../api/generated/admissionregistration-v1.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import {
  ARMED_ANNOTATION,
  EVICTIONS_CONFIGURATION,
  LINK_CONFIGURATION,
  STATUS_CONFIGURATION,
} from '../../webhook/index.ts';
import { namespacesOf } from './guarded-namespaces.ts';

export const EVERYWHERE = '*';

/** How long API servers may take to learn of a configuration. */
export const ARM_MS = 5000;

/** Filled, or to be filled, by the leading replica. */
export function isOurs({ metadata, webhooks = [] }: ValidatingWebhookConfiguration): boolean {
  return webhooks.length === 0 || metadata.annotations?.[ARMED_ANNOTATION] !== undefined;
}

export class LearnedWebhooks {
  readonly #clock: Clock;
  readonly #guarded: (namespaces: readonly string[]) => void;
  /** Since when evictions are asked about: everywhere, or in each namespace. */
  readonly #since = new Map<string, number>();
  /** The same for new pods. */
  readonly #linkedSince = new Map<string, number>();
  /** Whether the status of budgets is asked about, and since when that is so. */
  #adopting: { readonly is: boolean; readonly sinceMs: number; readonly isOurs: boolean };

  /** `guarded` is called when evictions are asked about in more namespaces. */
  constructor(clock: Clock, guarded: (namespaces: readonly string[]) => void) {
    this.#clock = clock;
    this.#guarded = guarded;
    this.#adopting = { is: false, sinceMs: clock.elapsed(), isOurs: true };
  }

  see(configuration: ValidatingWebhookConfiguration): void {
    const { metadata, webhooks = [] } = configuration;
    // What others have stated was there before us.
    const delayMs = isOurs(configuration) ? ARM_MS : 0;
    if (metadata.name === STATUS_CONFIGURATION) {
      const is = webhooks.length > 0;
      if (is !== this.#adopting.is) {
        this.#adopting = { is, sinceMs: this.#clock.elapsed(), isOurs: isOurs(configuration) };
      }
      // Numbers become ours from then on, or cease to be.
      this.#clock.after(delayMs, () => this.#guarded([EVERYWHERE]));
    }
    if (metadata.name === LINK_CONFIGURATION) this.#learn(this.#linkedSince, webhooks);
    if (metadata.name !== EVICTIONS_CONFIGURATION) return;
    const fresh = this.#learn(this.#since, webhooks);
    if (fresh.length > 0) this.#clock.after(delayMs, () => this.#guarded(fresh));
  }

  isGuarded(namespace: string, configuration: ValidatingWebhookConfiguration | undefined): boolean {
    return this.#isLearned(this.#since, namespace, configuration);
  }

  isLinked(namespace: string, configuration: ValidatingWebhookConfiguration | undefined): boolean {
    return this.#isLearned(this.#linkedSince, namespace, configuration);
  }

  /** Names that are asked about from now on. */
  #learn(since: Map<string, number>, webhooks: readonly ValidatingWebhook[]): string[] {
    const names = webhooks.length === 0 ? [] : (namespacesOf(webhooks[0] as ValidatingWebhook) ?? [EVERYWHERE]);
    for (const name of since.keys()) if (!names.includes(name)) since.delete(name);
    const fresh = names.filter((name) => !since.has(name));
    for (const name of fresh) since.set(name, this.#clock.elapsed());
    return fresh;
  }

  #isLearned(
    since: ReadonlyMap<string, number>,
    namespace: string,
    configuration: ValidatingWebhookConfiguration | undefined,
  ): boolean {
    const at = since.get(namespace) ?? since.get(EVERYWHERE);
    if (at === undefined) return false;
    return (configuration !== undefined && !isOurs(configuration)) || this.#clock.elapsed() - at >= ARM_MS;
  }

  isAdopting(): boolean {
    const { is, isOurs: ours, sinceMs } = this.#adopting;
    return is && (!ours || this.#clock.elapsed() - sinceMs >= ARM_MS);
  }

  hasAbandoned(): boolean {
    return !this.#adopting.is && this.#clock.elapsed() - this.#adopting.sinceMs >= ARM_MS;
  }
}
