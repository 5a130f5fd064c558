import type { Entity } from './entity.ts';

/** More important first, then whoever has waited longer. */
export function comesBefore(a: Entity, b: Entity): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return a.since !== b.since ? a.since < b.since : a.order < b.order;
}

/** A binary heap of entities by urgency. Entities that left the active state are dropped when they surface. */
export class ActiveHeap {
  readonly #items: Entity[] = [];

  push(entity: Entity): void {
    const items = this.#items;
    items.push(entity);
    let at = items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!comesBefore(items[at] as Entity, items[parent] as Entity)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): Entity | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    items[0] = last;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      let best = at;
      if (left < items.length && comesBefore(items[left] as Entity, items[best] as Entity)) best = left;
      if (right < items.length && comesBefore(items[right] as Entity, items[best] as Entity)) best = right;
      if (best === at) return first;
      this.#swap(at, best);
      at = best;
    }
  }

  #swap(a: number, b: number): void {
    const items = this.#items;
    const held = items[a] as Entity;
    items[a] = items[b] as Entity;
    items[b] = held;
  }
}
