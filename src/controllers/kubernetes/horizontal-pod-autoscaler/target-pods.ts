import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import { matches, parseSelector, type Selector } from '../../../machinery/values/index.ts';

export type TargetPods =
  | { readonly ok: true; readonly pods: readonly Pod[] }
  | {
      readonly ok: false;
      readonly event: 'SelectorRequired' | 'InvalidSelector' | 'AmbiguousSelector';
      readonly reason: 'InvalidSelector' | 'AmbiguousSelector';
      /** For the event. */
      readonly text: string;
      /** For the condition. */
      readonly message: string;
    };

/** What autoscalers select, as last seen, so that two that hold the same pods notice each other. */
export class TargetSelectors {
  readonly #known = new Map<string, { readonly key: ObjectKey; readonly selector: Selector }>();

  /** The pods of an autoscaler's target. Those that another autoscaler selects too are nobody's: the two would fight. */
  find(key: ObjectKey, text: string, podsOf: (selector: Selector) => readonly Pod[]): TargetPods {
    if (text === '') {
      const message = "the HPA target's scale is missing a selector";
      return { ok: false, event: 'SelectorRequired', reason: 'InvalidSelector', text: 'selector is required', message };
    }
    let selector: Selector;
    try {
      selector = parseSelector(text);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `couldn't convert selector into a corresponding internal selector object: ${why}`;
      return { ok: false, event: 'InvalidSelector', reason: 'InvalidSelector', text: message, message };
    }
    this.#known.set(formatKey(key), { key, selector });
    const pods = podsOf(selector);
    const holders = [...this.#known.values()].filter(
      (other) =>
        other.key.namespace === key.namespace && pods.some(({ metadata }) => matches(other.selector, metadata.labels)),
    );
    if (holders.length < 2) return { ok: true, pods };
    const names = holders.map(({ key: { name, namespace } }) => `{${name} ${namespace}}`).join(' ');
    const message = `pods by selector ${text} are controlled by multiple HPAs: [${names}]`;
    return { ok: false, event: 'AmbiguousSelector', reason: 'AmbiguousSelector', text: message, message };
  }

  forget(key: ObjectKey): void {
    this.#known.delete(formatKey(key));
  }
}
