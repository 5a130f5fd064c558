import { checkLimits, disrupts, type Foregone } from '../policies/index.ts';
import type { DisruptionIndex } from './disruption-index.ts';
import { type CountedPod, exemptionOf, isUp } from './pod-facts.ts';
import type { EvictionVerdict } from './verdict.ts';

/** What departures judged one after the other take from the limits of policies. */
export class LimitAccount {
  readonly #gone = new Map<string, number>();
  /** Disruptions that are granted here and stand in no ledger yet. */
  readonly #begun: (Foregone & { readonly key: string; readonly policies: ReadonlySet<string> })[] = [];
  readonly #index: DisruptionIndex;
  readonly #now: number;
  /** Members that went before and still look as if they stayed. */
  readonly #before: (group: string) => number;

  constructor(index: DisruptionIndex, now: number, before: (group: string) => number = () => 0) {
    this.#before = before;
    this.#index = index;
    this.#now = now;
  }

  /**
   * Asks the limits of every policy over the pod's group, also where a budget has refused: the answer names all that is in
   * the way. A disruption that is granted is the account's from then on.
   */
  judge({ name, namespace }: Pick<CountedPod, 'name' | 'namespace'>, verdict: EvictionVerdict): EvictionVerdict {
    const pod = this.#index.pod(namespace, name);
    if (pod === undefined || exemptionOf(pod) !== undefined) return verdict;
    const question = this.#index.limitsOn(
      namespace,
      name,
      (group) => this.#before(group) + (this.#gone.get(`${namespace}/${group}`) ?? 0),
    );
    if (question === undefined) return verdict;
    const { now, policies } = question;
    const key = `${namespace}/${now.group}`;
    const isBegun = this.#begun.some((one) => one.key === key);
    const concerned = isBegun ? [] : policies.filter((policy) => disrupts(policy, now, this.#now));
    const refusals = concerned.flatMap((policy) => {
      const before = this.#begun.filter(({ policies: asked }) => asked.has(`${namespace}/${policy.name}`));
      return checkLimits(policy, now, this.#now, before) ?? [];
    });
    const [first] = refusals;
    if (first !== undefined) {
      if (!verdict.allowed) return { ...verdict, policies: refusals };
      const views = verdict.charge === undefined ? [] : [verdict.charge.view];
      return { allowed: false, reason: first.reason, views, policies: refusals };
    }
    if (!verdict.allowed) return verdict;
    if (isUp(pod)) this.#gone.set(key, (this.#gone.get(key) ?? 0) + 1);
    const charged = concerned.filter(({ limits }) => limits !== undefined);
    if (charged.length === 0) return verdict;
    const names = charged.map((policy) => policy.name);
    this.#begun.push({
      key,
      group: now.group,
      at: this.#now,
      policies: new Set(names.map((one) => `${namespace}/${one}`)),
    });
    return { ...verdict, limits: { group: now.group, wholeSince: now.wholeSince, policies: names } };
  }
}
