import type { Pod } from '../../../api/generated/core-v1.ts';
import { podDisruptionBudgetType } from '../../../api/resource-types.ts';
import { type CountedPod, type DisruptionIndex, isUp } from '../../../decisions/disruption/index.ts';
import type { Clock } from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';
import type { HeldUnit, HoldingBudgets } from '../../shared/holds/index.ts';
import type { BudgetBook } from './book.ts';

const ABOUT = { apiVersion: 'policy/v1', kind: podDisruptionBudgetType.kind };

interface Counted {
  readonly index: DisruptionIndex;
  readonly book: BudgetBook;
  readonly clock: Clock;
}

/** PodDisruptionBudgets under which room is held. */
export function holdingDisruptionBudgets({ book, clock, index }: Counted): HoldingBudgets {
  return {
    kind: podDisruptionBudgetType.kind,
    get({ name, namespace = '' }) {
      if (index.budget(namespace, name) === undefined) return undefined;
      return book.get({ namespace, name }) ?? { ...ABOUT, metadata: { namespace, name } };
    },
    concernedBy({ metadata: { name = '', namespace = '' } }: Pod) {
      const { grouping, selecting } = index.concernedBy(namespace, name);
      return [...selecting, ...grouping];
    },
    membersOf({ budget, heldAt, namespace, unit }: HeldUnit) {
      let minCount = 1;
      const found: CountedPod[] = [];
      for (const pod of index.podsOf(namespace, budget)) {
        const group = index.unitOf(namespace, pod.name, budget, clock.now());
        if (group?.key !== undefined) {
          if (`${namespace}/${group.key}` !== unit) continue;
          minCount = group.minCount;
        } else if (`${namespace}/${pod.name}` !== unit && (parseTime(pod.createdAt) ?? 0) < heldAt) continue;
        found.push(pod);
      }
      return { pods: found.map((pod) => ({ name: pod.name, uid: pod.uid, up: isUp(pod) })), minCount };
    },
  };
}
