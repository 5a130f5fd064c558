/**
 * Hours of drawn evictions, deletes, taints, scale-downs and rollouts under a budget and a policy: the record accounts for
 * every pod that went, by a watch of its own. `npm run test:record` plays more hours on more nodes.
 */
import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import { disruptionPolicyType } from '../../../src/api/quorate/disruption-policy.ts';
import { deploymentType, nodeType, podType } from '../../../src/api/resource-types.ts';
import { type Random, seededRandom } from '../../../src/machinery/values/index.ts';
import { namespace, Recorded } from './fixture.ts';

const HOURS = Number(process.env['QUORATE_RECORD_HOURS'] ?? 0.15);
const NODES = Number(process.env['QUORATE_RECORD_NODES'] ?? 6);
const SEED = process.env['QUORATE_SEED'] === 'random' ? Math.floor(Math.random() * 2 ** 31) : 1;
const HOUR_MS = 60 * 60_000;
const ALLOWED_PER_HOUR = 2;
const GANGS = Math.ceil(NODES / 3);

let drawn: Drawn;
afterEach(() => drawn.stop());

/** What happens, and who sees it from the watch alone. */
class Drawn {
  readonly recorded: Recorded;
  readonly random: Random;
  /** Pods that began to go, and whether somebody took them or their owner wanted fewer or others. */
  readonly went = new Map<string, 'Taken' | 'Unwanted'>();
  /** When a whole gang was let go down. */
  readonly granted: number[] = [];
  readonly #end = new AbortController();
  #phase: 'Taken' | 'Unwanted' = 'Taken';

  constructor(recorded: Recorded) {
    this.recorded = recorded;
    this.random = seededRandom(SEED);
    void this.#watch();
  }

  async #watch(): Promise<void> {
    for await (const { object, type } of this.recorded.client.watch(podType, { signal: this.#end.signal })) {
      const { deletionTimestamp, uid = '' } = object.metadata;
      const goes = type === 'DELETED' || deletionTimestamp !== undefined;
      if (goes && !this.went.has(uid)) this.went.set(uid, this.#phase);
    }
  }

  pick<T>(of: readonly T[]): T | undefined {
    return of[Math.floor(this.random() * of.length)];
  }

  async somePod(): Promise<Pod | undefined> {
    return this.pick(
      await this.recorded.ready(this.random() < 0.5 ? 'web' : `gang${Math.floor(this.random() * GANGS)}`),
    );
  }

  async step(): Promise<void> {
    const { recorded } = this;
    const draw = this.random();
    if (draw < 0.45) await this.#evict();
    else if (draw < 0.6) {
      const name = (await this.somePod())?.metadata.name;
      if (name !== undefined) await recorded.plane.clientFor('bob').delete(podType, { namespace, name });
    } else if (draw < 0.75) await this.#taint();
    else await this.#change(draw < 0.88);
    await recorded.pass(40 + Math.floor(this.random() * 40));
  }

  async #evict(): Promise<void> {
    const pod = await this.somePod();
    if (pod === undefined) return;
    const [gang = ''] = (pod.metadata.name ?? '').split('-');
    const isWhole = gang.startsWith('gang') && (await this.recorded.ready(gang)).length >= 2;
    const at = this.recorded.plane.clock.now();
    const code = await this.recorded.evict(pod, this.pick(['ada', 'grace']));
    if (code === 201 && isWhole) this.granted.push(at);
  }

  async #taint(): Promise<void> {
    const node =
      this.pick(await this.recorded.client.list(nodeType, {}).then(({ items }) => items))?.metadata.name ?? '';
    await this.recorded.taint(node, 'example.com/repair');
    await this.recorded.pass(30);
    await this.recorded.client.patch(nodeType, { name: node }, { type: 'merge', body: { spec: { taints: null } } });
  }

  /** Nothing else goes until that is over. */
  async #change(isRollout: boolean): Promise<void> {
    await this.recorded.pass(60);
    this.#phase = 'Unwanted';
    const version = String(this.recorded.plane.clock.now());
    const replicas = 2 + Math.floor(this.random() * NODES);
    const spec = isRollout ? { template: { metadata: { annotations: { version } } } } : { replicas };
    const key = { namespace, name: 'web' };
    await this.recorded.client.patch(deploymentType, key, { type: 'merge', body: { spec } });
    await this.recorded.pass(90);
    this.#phase = 'Taken';
  }

  stop(): Promise<void> {
    this.#end.abort();
    return this.recorded.stop();
  }
}

test(
  `RC-07: ${HOURS} hours on ${NODES} nodes: every pod that went is in the record once, and no limit was passed (seed ${SEED})`,
  async () => {
    const recorded = await Recorded.start(NODES);
    drawn = new Drawn(recorded);
    await recorded.world.gangs(GANGS, { size: 2, prefix: 'gang', allowed: 1 });
    await recorded.fleet('web', NODES);
    const maxDisruptions = [{ count: ALLOWED_PER_HOUR, per: '1h' }];
    await recorded.client.create(disruptionPolicyType, {
      metadata: { namespace, name: 'hourly' },
      spec: { selector: { matchLabels: { fleet: 'gang' } }, limits: { maxDisruptions } },
    });
    await recorded.pass(5);
    const until = recorded.plane.clock.now() + HOURS * HOUR_MS;
    while (recorded.plane.clock.now() < until) await drawn.step();
    await recorded.pass(120);

    const entries = (await recorded.entries()).filter(({ outcome }) => outcome !== 'Refused' && outcome !== 'Expired');
    // Pods that were only lost for a while are still there.
    const inRecord = entries.flatMap(({ pods }) => pods.map(({ uid }) => uid)).filter((uid) => drawn.went.has(uid));
    const taken = [...drawn.went].filter(([, why]) => why === 'Taken').map(([uid]) => uid);
    expect([...inRecord].sort()).toEqual([...taken].sort());
    expect(taken.length).toBeGreaterThan(0);
    for (const at of drawn.granted) {
      const within = drawn.granted.filter((other) => other > at - HOUR_MS && other <= at);
      expect(within.length).toBeLessThanOrEqual(ALLOWED_PER_HOUR);
    }
    const ends = new Map<string, string>();
    for (const { downAt = '', group, groupSeconds = 0, wholeAt = '' } of entries) {
      if (groupSeconds === 0) continue;
      expect(downAt >= (ends.get(group) ?? '')).toBe(true);
      ends.set(group, wholeAt);
    }
  },
  HOURS * 600_000 + 60_000,
);
