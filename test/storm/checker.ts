/** Says how many gangs are down by evictions. It watches pods and knows nothing else: no budget, no ledger. */
import { isPodReady } from '../../src/api/core/pod-state.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type Client, Informer, silentLogger, systemClock } from '../../src/machinery/runtime/index.ts';
import { BUDGETS, GANG, NAMESPACE, SIZE, type StormBudget } from './gangs.ts';

export interface Checker {
  /** What is there now, in whatever state. */
  pods(): readonly Pod[];
  areAllReady(): boolean;
  /** The most gangs of a budget that were down at once. */
  readonly worst: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
  /** How often a gang went down so far. */
  outages(): number;
  /** From here on gangs that go down are counted. */
  begin(): void;
  stop(): void;
}

/**
 * A pod holds its place from when it is Ready for the first time until it is deleted; nothing but evictions deletes pods
 * here, and readiness that comes and goes is nobody's doing. A gang is down while fewer than all of its places are held.
 */
export async function watchPods(client: Client, budgets: readonly StormBudget[] = BUDGETS): Promise<Checker> {
  const allPods = budgets.flatMap(({ gangs }) => gangs).length * SIZE;
  const stop = new AbortController();
  const informer = new Informer<Pod>({
    client,
    clock: systemClock,
    log: silentLogger,
    type: podType,
    namespace: NAMESPACE,
  });
  const wasReady = new Set<string>();
  const held = new Map<string, Set<string>>();
  const worst = new Map<string, number>();
  const violations: string[] = [];
  const down = new Set<string>();
  let outages = 0;
  let isCounting = false;
  const look = (pod: Pod, gone: boolean): void => {
    const { deletionTimestamp, labels, name = '', uid = '' } = pod.metadata;
    const gang = labels?.[GANG];
    if (gang === undefined) return;
    if (isPodReady(pod)) wasReady.add(uid);
    let places = held.get(gang);
    if (places === undefined) held.set(gang, (places = new Set()));
    if (!gone && deletionTimestamp === undefined && wasReady.has(uid)) places.add(uid);
    else places.delete(uid);
    if (!isCounting) return;
    if (places.size === SIZE) down.delete(gang);
    else if (places.size < SIZE && !down.has(gang)) {
      down.add(gang);
      outages += 1;
    }
    count(name);
  };
  const count = (after: string): void => {
    for (const { gangs, mayGo, name } of budgets) {
      const those = gangs.filter((gang) => (held.get(gang)?.size ?? 0) < SIZE);
      worst.set(name, Math.max(worst.get(name) ?? 0, those.length));
      if (those.length > mayGo)
        violations.push(`${those.length} of ${mayGo} gangs of ${name} are down after ${after}: ${those.join(', ')}`);
    }
  };
  informer.addHandler({
    added: (pod) => look(pod, false),
    updated: (pod) => look(pod, false),
    deleted: (pod) => look(pod, true),
  });
  informer.start(stop.signal);
  await informer.whenSynced();
  const ours = (): Pod[] => informer.list(NAMESPACE).filter(({ metadata }) => metadata.labels?.[GANG] !== undefined);
  return {
    pods: ours,
    areAllReady: () => ours().length === allPods && ours().every((pod) => isPodReady(pod)),
    worst,
    violations,
    outages: () => outages,
    begin() {
      isCounting = true;
      count('the beginning');
    },
    stop: () => stop.abort(new Error('the storm is over')),
  };
}
