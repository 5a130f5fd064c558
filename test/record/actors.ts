/** People, tools and failures that take pods, as they are drawn. */
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { disruptionPolicyType } from '../../src/api/quorate/disruption-policy.ts';
import { type Maintenance, maintenanceType } from '../../src/api/quorate/maintenance.ts';
import { deploymentType, nodeType, podType } from '../../src/api/resource-types.ts';
import { evictPod, existing } from '../../src/machinery/runtime/index.ts';
import { POWER } from '../../src/nodes/index.ts';
import type { Dice } from '../placement/dice.ts';
import type { Fleet } from './oracle.ts';
import { drawPolicy } from './policies.ts';
import type { RecordWorld } from './world.ts';

export const namespace = 'default';
const MINUTE_MS = 60_000;
/** A drain or a Maintenance that has not ended by then is given up. */
const PATIENCE_MS = 60 * MINUTE_MS;

/** What goes on for a while: it is looked at again after every step, and is over when it says so. */
type Doing = (now: number) => Promise<boolean>;

export class Actors {
  /** Pods that were deleted by hand. */
  readonly deleted: Set<string>;
  readonly done = new Map<string, number>();
  readonly #world: RecordWorld;
  readonly #dice: Dice;
  readonly #fleets: readonly Fleet[];
  readonly #nodes: readonly string[];
  #doing: Doing[] = [];
  readonly #taken = new Set<string>();
  #count = 0;

  constructor(
    world: RecordWorld,
    dice: Dice,
    { deleted, fleets, nodes }: { fleets: readonly Fleet[]; nodes: number; deleted: Set<string> },
  ) {
    this.#world = world;
    this.#dice = dice;
    this.#fleets = fleets;
    this.deleted = deleted;
    this.#nodes = Array.from({ length: nodes }, (_, at) => `node-${at}`);
  }

  get isBusy(): boolean {
    return this.#doing.length > 0;
  }

  async step(): Promise<void> {
    const draws: readonly [number, string, () => Promise<void>][] = [
      [30, 'evict', () => this.#evict()],
      [8, 'delete', () => this.#delete()],
      [8, 'taint', () => this.#taint()],
      [10, 'failure', () => this.#fail()],
      [12, 'drain', () => this.#drain()],
      [12, 'maintenance', () => this.#maintain(1 + Math.floor(this.#nodes.length / 50), false)],
      [5, 'upgrade', () => this.#maintain(Math.max(2, Math.floor(this.#nodes.length / 10)), true)],
      [5, 'scale', () => this.#patchWeb({ replicas: this.#dice.whole(3, 3 + this.#nodes.length / 4) })],
      [5, 'rollout', () => this.#patchWeb({ template: { metadata: { annotations: { at: String(this.#count) } } } })],
      [2, 'policy', () => this.#redraw()],
    ];
    this.#count += 1;
    let left = this.#dice.whole(
      1,
      draws.reduce((sum, [weight]) => sum + weight, 0),
    );
    const [, name, act] = draws.find(([weight]) => (left -= weight) <= 0) ?? draws[0] ?? [];
    if (name === undefined || act === undefined) return;
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
    await act();
  }

  /** Goes on with what is under way. */
  async tend(): Promise<void> {
    const now = this.#world.clock.now();
    const still: Doing[] = [];
    for (const one of this.#doing) if (!(await one(now))) still.push(one);
    this.#doing = still;
  }

  async #ready(): Promise<Pod[]> {
    const { items } = await this.#world.client.list(podType, { namespace });
    return items.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true,
    );
  }

  async #evict(): Promise<void> {
    const pod = this.#dice.pick(await this.#ready());
    const { name = '' } = pod?.metadata ?? {};
    if (name !== '') await evictPod(this.#world.clientFor(this.#dice.pick(['ada', 'grace'])), { namespace, name });
  }

  /** Of a gang: of what its owner makes more and less of, nothing would say who wanted it gone. */
  async #delete(): Promise<void> {
    const gangs = (await this.#ready()).filter(({ metadata }) => metadata.labels?.['fleet'] !== 'web');
    const { name = '', uid = '' } = this.#dice.pick(gangs)?.metadata ?? {};
    if (name === '') return;
    this.deleted.add(uid);
    await this.#world.clientFor('bob').delete(podType, { namespace, name });
  }

  /** A node that nothing else goes on with. */
  #free(): string | undefined {
    const free = this.#nodes.filter((name) => !this.#taken.has(name));
    const node = free.length * 2 < this.#nodes.length ? undefined : this.#dice.pick(free);
    if (node !== undefined) this.#taken.add(node);
    return node;
  }

  async #patch(name: string, body: object): Promise<void> {
    await this.#world.client.patch(nodeType, { name }, { type: 'merge', body });
  }

  /** Something about a node is so for a while. */
  async #forAWhile(forMs: number, on: object, off: object): Promise<void> {
    const node = this.#free();
    if (node === undefined) return;
    await this.#patch(node, on);
    const until = this.#world.clock.now() + forMs;
    this.#doing.push(async (now) => {
      if (now < until) return false;
      await this.#patch(node, off);
      this.#taken.delete(node);
      return true;
    });
  }

  #taint(): Promise<void> {
    const taints = [{ key: 'example.com/repair', effect: 'NoExecute' }];
    return this.#forAWhile(MINUTE_MS, { spec: { taints } }, { spec: { taints: null } });
  }

  #fail(): Promise<void> {
    const power = (is: string | null) => ({ metadata: { annotations: { [POWER]: is } } });
    return this.#forAWhile(this.#dice.whole(1, 20) * MINUTE_MS, power('off'), power(null));
  }

  /** As kubectl does: cordon, ask for every pod, ask again where a budget says no. */
  async #drain(): Promise<void> {
    const node = this.#free();
    if (node === undefined) return;
    await this.#patch(node, { spec: { unschedulable: true } });
    const client = this.#world.clientFor('kubectl');
    const until = this.#world.clock.now() + PATIENCE_MS;
    this.#doing.push(async (now) => {
      const { items } = await this.#world.client.list(podType, { namespace, fieldSelector: `spec.nodeName=${node}` });
      for (const { metadata } of items) {
        if (metadata.deletionTimestamp === undefined) await evictPod(client, { namespace, name: metadata.name ?? '' });
      }
      if (items.length > 0 && now < until) return false;
      await this.#patch(node, { spec: { unschedulable: null } });
      this.#taken.delete(node);
      return true;
    });
  }

  async #maintain(count: number, isUpgrade: boolean): Promise<void> {
    const names = Array.from({ length: count }, () => this.#free()).filter((name) => name !== undefined);
    if (names.length === 0) return;
    const name = `m-${this.#count}`;
    const spec: Maintenance['spec'] = {
      nodes: { names },
      mode: 'BestEffort',
      ttlSecondsAfterFinished: 60,
      ...(isUpgrade ? { nodesReturn: true, uncordon: 'WhenDrained' } : { uncordon: 'WhenFinished' }),
      ...(this.#dice.chance(50) && { pace: { maxGroupsDownAtOnce: this.#dice.whole(1, 3) } }),
    };
    await this.#world.client.create(maintenanceType, { metadata: { name }, spec });
    const until = this.#world.clock.now() + count * PATIENCE_MS;
    this.#doing.push(async (now) => {
      const there = await existing(this.#world.client.get(maintenanceType, { name }));
      const isOver = there === undefined || there.status?.finishedAt !== undefined;
      if (isOver) for (const node of names) this.#taken.delete(node);
      else if (now >= until) {
        await this.#world.client.patch(
          maintenanceType,
          { name },
          { type: 'merge', body: { spec: { cancelled: true } } },
        );
      }
      return isOver;
    });
  }

  async #patchWeb(spec: object): Promise<void> {
    await this.#world.client.patch(deploymentType, { namespace, name: 'web' }, { type: 'merge', body: { spec } });
  }

  async #redraw(): Promise<void> {
    const fleet = this.#dice.pick(this.#fleets);
    const spec = drawPolicy(this.#dice, fleet.name);
    const key = { namespace, name: fleet.name };
    const known = await this.#world.client.get(disruptionPolicyType, key);
    await this.#world.client.update(disruptionPolicyType, { ...known, spec });
    fleet.policy = spec;
    fleet.since = this.#world.clock.now();
  }
}
