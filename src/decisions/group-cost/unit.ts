import { isPodReady } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { parseTime } from '../../machinery/values/index.ts';
import type { CostedUnit } from './compare.ts';
import { type CostSources, type CostWarning, costOf } from './cost.ts';

export interface UnitOfPods {
  readonly id: string;
  readonly pods: readonly Pod[];
  /** Healthy members below which it is down; all of them when absent. */
  readonly needed?: number | undefined;
  readonly objects?: CostSources['objects'];
  readonly priority?: number | undefined;
  readonly now: number;
}

/** A unit as the order of going sees it, from its pods. */
export function costedUnit(unit: UnitOfPods): CostedUnit & { readonly warnings: readonly CostWarning[] } {
  const { id, needed = unit.pods.length, now, objects, pods, priority } = unit;
  const startedAt = Math.max(0, ...pods.map(({ metadata }) => parseTime(metadata.creationTimestamp ?? '') ?? 0));
  const { cost, warnings } = costOf({
    objects,
    members: pods.map(({ metadata }) => metadata.annotations),
    startedAt,
    now,
  });
  const deleting = pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  return {
    id,
    broken: deleting || pods.filter(isPodReady).length < needed,
    cost,
    priority: priority ?? Math.min(...pods.map(({ spec }) => spec?.priority ?? 0)),
    startedAt,
    pods: pods.length,
    warnings,
  };
}
