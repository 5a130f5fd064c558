import type { Pod } from '../../../api/generated/core-v1.ts';
import { DEPRECATED_RELATED_PUB_ANNOTATION, RELATED_PUB_ANNOTATION } from '../../../api/kruise/types.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  type BudgetIndex,
  type UnavailabilityTally,
  relatedBudgetOf,
} from '../../../decisions/unavailability/index.ts';
import { type Client, type Clock, isConflict, isNotFound } from '../../../machinery/runtime/index.ts';

/** What was looked at last time: as long as no pod has come or changed, there is nothing to mark. */
export interface MarkedPods {
  readonly tally: UnavailabilityTally;
  readonly changes: number;
  readonly atMs: number;
}

export interface MarkDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly index: (namespace: string) => BudgetIndex;
  readonly sources: {
    readonly pod: (namespace: string, name: string) => Pod | undefined;
    readonly compat: boolean;
  };
  /** By key of the budget. */
  readonly marked: Map<string, MarkedPods>;
}

/** Marks the pods of a budget that has seen new ones, and those of any budget now and then: others come and go too. */
export async function markNewPods(
  deps: MarkDeps,
  key: ObjectKey,
  { maxAgeMs, tally }: { tally: UnavailabilityTally; maxAgeMs: number },
): Promise<void> {
  const { clock, marked } = deps;
  const { changes } = tally;
  const last = marked.get(formatKey(key));
  const atMs = clock.now();
  if (last?.tally === tally && last.changes === changes && atMs - last.atMs < maxAgeMs) return;
  await markPods(deps, key.namespace ?? '', tally);
  marked.set(formatKey(key), { tally, changes, atMs });
}

/** The annotation is a cache for readers: the first covering budget by name. Stale values are corrected. */
async function markPods(
  { client, index, sources }: MarkDeps,
  namespace: string,
  tally: UnavailabilityTally,
): Promise<void> {
  for (const name of tally.pods.keys()) {
    const pod = sources.pod(namespace, name);
    const wanted = index(namespace).covering(name)[0]?.budget.metadata.name;
    if (pod === undefined || wanted === undefined || pod.metadata.deletionTimestamp) continue;
    const related = relatedBudgetOf(pod);
    // OpenKruise writes it once and never again.
    if (related === wanted || (sources.compat && related !== undefined)) continue;
    const annotations = { [RELATED_PUB_ANNOTATION]: wanted, [DEPRECATED_RELATED_PUB_ANNOTATION]: wanted };
    const body = { metadata: { uid: pod.metadata.uid, annotations } };
    try {
      await client.patch(podType, { namespace, name }, { type: 'merge', body });
    } catch (error) {
      // Gone or replaced meanwhile: its successor comes with an event of its own.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}
