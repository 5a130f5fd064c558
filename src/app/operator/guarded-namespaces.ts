import type { ValidatingWebhook } from '../../api/generated/admissionregistration-v1.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import type { Guarded } from '../../webhook/index.ts';

/** A namespace leaves the lists when nothing in it has needed us for so long. */
export const DISARM_MS = 300_000;

const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** The namespaces that a webhook is asked about; undefined where it names none. */
export function namespacesOf({ namespaceSelector }: ValidatingWebhook): readonly string[] | undefined {
  const expressions = namespaceSelector?.matchExpressions ?? [];
  return expressions.find(({ key, operator }) => key === NAMESPACE_NAME && operator === 'In')?.values;
}

/** Which namespaces are asked about: those that need it, and for a while those that did. */
export class GuardedNamespaces {
  readonly #clock: Clock;
  readonly #needed: () => Guarded;
  readonly #until: Readonly<Record<keyof Guarded, Map<string, number>>> = {
    evictions: new Map(),
    pods: new Map(),
    links: new Map(),
  };

  constructor(clock: Clock, needed: () => Guarded) {
    this.#clock = clock;
    this.#needed = needed;
  }

  /** Names that are listed already, by whoever led before: they may still be needed. */
  known(webhook: ValidatingWebhook): void {
    const kind = webhook.name.startsWith('pods.') ? 'pods' : webhook.name.startsWith('link.') ? 'links' : 'evictions';
    const until = this.#clock.elapsed() + DISARM_MS;
    for (const name of namespacesOf(webhook) ?? [])
      if (!this.#until[kind].has(name)) this.#until[kind].set(name, until);
  }

  /** A PodUnavailableBudget is about to be admitted there. */
  add(namespace: string): void {
    const until = this.#clock.elapsed() + DISARM_MS;
    this.#until.evictions.set(namespace, until);
    this.#until.pods.set(namespace, until);
  }

  /** Somebody is about to be admitted there who asks for groups. */
  expect(namespace: string): void {
    this.#until.links.set(namespace, this.#clock.elapsed() + DISARM_MS);
  }

  lists(): Guarded {
    const needed = this.#needed();
    return {
      evictions: this.#list('evictions', needed.evictions),
      pods: this.#list('pods', needed.pods),
      links: this.#list('links', needed.links),
    };
  }

  #list(kind: keyof Guarded, needed: readonly string[]): string[] {
    const now = this.#clock.elapsed();
    const until = this.#until[kind];
    for (const name of needed) until.set(name, now + DISARM_MS);
    for (const [name, end] of until) if (end <= now) until.delete(name);
    return [...until.keys()].sort();
  }
}
