/** What a drain by plan looks at again and again while it waits. */
import { isPodFinished } from '../../api/core/pod-state.ts';
import { podType } from '../../api/resource-types.ts';
import { gatherBudgets } from '../../cluster-state/gather.ts';
import { gatherWholesaleSets } from '../../cluster-state/wholesale-sets.ts';
import { idOf, UnitFinder } from '../../decisions/drain-question/index.ts';
import { type Client, type Clock, listAll } from '../../machinery/runtime/index.ts';

export interface DrainLook {
  /** The UIDs of all pods that are there, by `namespace/name`. */
  uids(): Promise<ReadonlyMap<string, string | undefined>>;
  /** Whether each of these units serves; one that has no pod is left out. */
  serving(units: ReadonlySet<string>): Promise<ReadonlyMap<string, boolean>>;
  /** How long to let the server alone before the next look. */
  restMs(): number;
}

/** A look over a large cluster is work for its server: it rests so many times as long as the last one took. */
const REST = 4;

/** Lists what there is each time, as anybody can who may read a cluster. */
export function listingLook(client: Client, clock: Clock): DrainLook {
  let tookMs = 0;
  return {
    restMs: () => REST * tookMs,
    async uids() {
      const began = clock.elapsed();
      const pods = await listAll(client, podType, undefined);
      tookMs = clock.elapsed() - began;
      return new Map(pods.map((pod) => [idOf(pod), pod.metadata.uid]));
    },
    async serving(units) {
      const began = clock.elapsed();
      const now = clock.now();
      const state = await gatherBudgets(client, { now });
      const groups = { ...state, everyGroup: state.everyGroup(), wholesaleSets: await gatherWholesaleSets(client) };
      const pods = state.pods.filter((pod) => !isPodFinished(pod));
      const finder = new UnitFinder(groups, pods, now);
      const found = new Map<string, boolean>();
      for (const pod of pods) {
        const { healthy, id, needed } = finder.unitOf(pod);
        if (units.has(id)) found.set(id, healthy >= needed);
      }
      tookMs = clock.elapsed() - began;
      return found;
    },
  };
}
