import { backoffMs, type FilterName } from '../decisions/gang/index.ts';
import type { Clock } from '../machinery/runtime/index.ts';
import { ActiveHeap } from './active-heap.ts';
import { type ClusterEvent, couldHelp } from './cluster-event.ts';
import type { Entity, EntityState } from './entity.ts';

const FLUSH_AFTER_MS = 5 * 60_000;
const FLUSH_EVERY_MS = 30_000;

export interface PendingQueueOptions {
  readonly clock: Clock;
  /** Called whenever something became active. */
  readonly onActive: () => void;
}

/** Entities waiting for a node, and when each is tried next. */
export class PendingQueue {
  readonly #clock: Clock;
  readonly #onActive: () => void;
  readonly #entities = new Map<string, Entity>();
  readonly #active = new ActiveHeap();
  readonly #waiting = new Set<Entity>();
  readonly #events = new Set<ClusterEvent>();
  #order = 0;
  #epoch = 0;

  constructor({ clock, onActive }: PendingQueueOptions) {
    this.#clock = clock;
    this.#onActive = onActive;
  }

  /** Flushes what has waited too long, from now until the signal aborts. */
  start(signal: AbortSignal): void {
    const flush = (): void => {
      if (signal.aborted) return;
      const before = this.#clock.elapsed() - FLUSH_AFTER_MS;
      for (const entity of this.#waiting) if (entity.stateSince <= before) this.#wake(entity);
      this.#clock.after(FLUSH_EVERY_MS, flush);
    };
    this.#clock.after(FLUSH_EVERY_MS, flush);
  }

  /** Grows with everything that could make room. */
  get epoch(): number {
    return this.#epoch;
  }

  get(key: string): Entity | undefined {
    return this.#entities.get(key);
  }

  heldGroups(): string[] {
    const groups: string[] = [];
    for (const { group, state } of this.#waiting) if (state === 'held' && group !== undefined) groups.push(group);
    return groups;
  }

  counts(): Record<EntityState, number> {
    const counts = { active: 0, backoff: 0, parked: 0, held: 0, idle: 0 };
    for (const { state } of this.#entities.values()) counts[state] += 1;
    return counts;
  }

  /** Adds an entity, or makes one that waits for news active again: something about itself changed. */
  add(key: string, { group, priority, since }: { group?: string | undefined; priority: number; since: number }): void {
    const known = this.#entities.get(key);
    if (known === undefined) {
      const entity: Entity = {
        key,
        group,
        priority,
        since,
        order: this.#order++,
        state: 'idle',
        attempts: 0,
        restsUntil: 0,
        stateSince: this.#clock.elapsed(),
        filters: new Set(),
        failedAt: -1,
      };
      this.#entities.set(key, entity);
      this.#activate(entity);
      return;
    }
    known.priority = Math.max(known.priority, priority);
    known.failedAt = -1;
    if (known.state === 'idle' || known.state === 'active') this.#activate(known);
    else this.#wake(known);
  }

  remove(key: string): void {
    const entity = this.#entities.get(key);
    if (entity === undefined) return;
    this.#entities.delete(key);
    this.#waiting.delete(entity);
    entity.state = 'idle';
  }

  /** Hands out the most urgent active entity; the caller then says what became of it. */
  take(): Entity | undefined {
    this.#deliver();
    for (let entity = this.#active.pop(); entity !== undefined; entity = this.#active.pop()) {
      if (entity.state !== 'active' || this.#entities.get(entity.key) !== entity) continue;
      entity.state = 'idle';
      return entity;
    }
    return undefined;
  }

  /** A failed pod waits for an event that could help. */
  park(entity: Entity, filters: ReadonlySet<FilterName>): void {
    this.#rest(entity, 1);
    this.#wait(entity, 'parked', filters);
  }

  /** A failed group, and anything that met an error, is tried again after its rest whatever happens. */
  retry(entity: Entity, pods: number): void {
    this.#rest(entity, pods);
    this.#backOff(entity);
  }

  /** Not to be tried until its group changes; this was no attempt. */
  hold(entity: Entity): void {
    this.#wait(entity, 'held', new Set());
  }

  /** Straight back, keeping its place in line. */
  requeue(entity: Entity): void {
    this.#activate(entity);
  }

  /** Placed: the next failure starts from the first rest again. */
  succeed(entity: Entity): void {
    entity.attempts = 0;
    entity.restsUntil = 0;
  }

  /** Events are gathered and looked at once per round of scheduling, so that a burst costs one pass. */
  notify(event: ClusterEvent): void {
    this.#epoch += 1;
    if (this.#waiting.size === 0) return;
    this.#events.add(event);
    this.#onActive();
  }

  #deliver(): void {
    if (this.#events.size === 0) return;
    const events = new Set(this.#events);
    this.#events.clear();
    for (const entity of this.#waiting) {
      if (entity.state === 'parked' && couldHelp(events, entity.filters)) this.#wake(entity);
    }
  }

  #wake(entity: Entity): void {
    if (entity.state !== 'parked' && entity.state !== 'held') return;
    const held = entity.state === 'held';
    this.#waiting.delete(entity);
    if (!held && entity.restsUntil > this.#clock.elapsed()) this.#backOff(entity);
    else this.#activate(entity);
  }

  #rest(entity: Entity, pods: number): void {
    entity.attempts += 1;
    entity.restsUntil = this.#clock.elapsed() + backoffMs(entity.attempts, pods);
  }

  #wait(entity: Entity, state: 'parked' | 'held', filters: ReadonlySet<FilterName>): void {
    entity.state = state;
    entity.filters = filters;
    entity.stateSince = this.#clock.elapsed();
    this.#waiting.add(entity);
  }

  #backOff(entity: Entity): void {
    entity.state = 'backoff';
    const { restsUntil } = entity;
    this.#clock.after(Math.max(0, restsUntil - this.#clock.elapsed()), () => {
      if (entity.state === 'backoff' && entity.restsUntil === restsUntil) this.#activate(entity);
    });
  }

  #activate(entity: Entity): void {
    if (this.#entities.get(entity.key) !== entity) return;
    entity.state = 'active';
    entity.stateSince = this.#clock.elapsed();
    this.#active.push(entity);
    this.#onActive();
  }
}
