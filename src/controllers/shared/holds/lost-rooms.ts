import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Condition } from '../../../api/generated/meta-v1.ts';
import { type CapacityFinding, capacityLost, lostUnit } from '../../../decisions/capacity/index.ts';

interface LostRoom {
  /** When room was first held for the unit. */
  readonly heldAt: number;
  /** Until when it was to be held. */
  readonly until: number;
}

/** Units whose held room went to others, by the key of their budget, until they are whole again. */
export class LostRooms {
  readonly #units = new Map<string, Map<string, LostRoom>>();

  /** What a process before this one has said in the status of a budget still holds; answers whether there is anything. */
  restore(key: string, conditions: readonly Condition[] | undefined): boolean {
    const unit = this.#units.has(key) ? undefined : lostUnit(conditions);
    if (unit === undefined) return false;
    this.#units.set(key, new Map([[unit, { heldAt: 0, until: 0 }]]));
    return true;
  }

  add(key: string, unit: string, room: LostRoom): void {
    const units = this.#units.get(key) ?? new Map<string, LostRoom>();
    this.#units.set(key, units.set(unit, room));
  }

  has(key: string, unit: string): boolean {
    return this.#units.get(key)?.has(unit) === true;
  }

  of(key: string): readonly (readonly [unit: string, room: LostRoom])[] {
    return [...(this.#units.get(key) ?? [])];
  }

  /** It is whole again. The budget stays known, so that its old status is not taken for news. */
  end(key: string, unit: string): void {
    this.#units.get(key)?.delete(unit);
  }

  /** What the budget has to say; undefined where nothing is lost. */
  finding(key: string): CapacityFinding | undefined {
    const [unit] = this.of(key)
      .map(([name]) => name)
      .sort();
    return unit === undefined ? undefined : capacityLost(unit);
  }
}

/** Who has the room that a placeholder held: more important pods, or nobody, since its node is gone. */
export function lostBy({ status }: Pod): 'pod' | 'node' {
  const reason = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason ?? '';
  return ['DeletionByTaintManager', 'DeletionByPodGC', 'TerminationByKubelet'].includes(reason) ? 'node' : 'pod';
}
