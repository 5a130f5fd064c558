import type { CountedPod } from '../disruption/pod-facts.ts';
import { SelectorIndex } from '../disruption/selector-index.ts';
import type { PolicyFacts } from './facts.ts';
import { targetsOf, type WorkloadOfGroup } from './selection.ts';

const NONE: readonly never[] = [];

/** The policies of one namespace, found by the labels and owners of pods without asking each. */
export class PolicyIndex {
  readonly all = new Map<string, PolicyFacts>();
  readonly #selectors = new SelectorIndex<string>();
  readonly #byTarget = new Map<string, Set<string>>();

  set(policy: PolicyFacts): void {
    const { name, selection } = policy;
    if (this.all.get(name)?.selection !== selection) {
      this.delete(name);
      if (selection.selector !== undefined) this.#selectors.set(name, selection.selector);
      else {
        const { kind, name: target } = selection.targetRef;
        const key = `${kind}/${target}`;
        const names = this.#byTarget.get(key) ?? new Set();
        this.#byTarget.set(key, names.add(name));
      }
    }
    this.all.set(name, policy);
  }

  delete(name: string): void {
    const known = this.all.get(name);
    if (known === undefined) return;
    this.all.delete(name);
    this.#selectors.delete(name);
    if (known.selection.targetRef === undefined) return;
    const { kind, name: target } = known.selection.targetRef;
    const names = this.#byTarget.get(`${kind}/${target}`);
    names?.delete(name);
    if (names?.size === 0) this.#byTarget.delete(`${kind}/${target}`);
  }

  /** The policies over a group, by name: those that select at least one member that is not finished. */
  over(members: Iterable<CountedPod>, workloadOf: WorkloadOfGroup): readonly PolicyFacts[] {
    if (this.all.size === 0) return NONE;
    const names = new Set<string>();
    for (const pod of members) {
      if (pod.phase === 'Succeeded' || pod.phase === 'Failed') continue;
      for (const name of this.#selectors.matching(pod.labels)) names.add(name);
      if (this.#byTarget.size === 0) continue;
      for (const target of targetsOf(pod, workloadOf)) {
        for (const name of this.#byTarget.get(target) ?? NONE) names.add(name);
      }
    }
    if (names.size === 0) return NONE;
    return [...names].sort().flatMap((name) => this.all.get(name) ?? []);
  }
}
