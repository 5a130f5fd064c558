/**
 * Days of drawn evictions, deletes, taints, failures, drains, Maintenances, upgrades, scale-downs and rollouts under drawn
 * budgets and policies: the record accounts for every pod that went, by a watch alone, and no limit is passed.
 */
import { type DisruptionHistory, disruptionHistoryType } from '../../src/api/quorate/disruption-history.ts';
import { disruptionPolicyType } from '../../src/api/quorate/disruption-policy.ts';
import type { PodGroup } from '../../src/api/generated/scheduling-v1beta1.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { ResourceType } from '../../src/api/resource.ts';
import { deploymentType, podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { deployment, podDisruptionBudget } from '../../src/testkit/index.ts';
import { Dice } from '../placement/dice.ts';
import { Actors, namespace } from './actors.ts';
import { type Fleet, type Gang, Oracle } from './oracle.ts';
import { drawPolicy } from './policies.ts';
import { type RecordWorld, startRecordWorld } from './world.ts';

const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io') as ResourceType<PodGroup>;
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
/** Until what began is entered. */
const ENTERED_MS = 60_000;

export interface Played {
  readonly hours: number;
  readonly went: number;
  readonly taken: number;
  readonly voluntary: number;
  readonly entries: number;
  readonly done: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

export interface PlayOptions {
  readonly hours: number;
  readonly nodes: number;
  readonly seed: number;
  /** So often it is looked whether all is well. Default: every 24 simulated hours. */
  readonly everyHours?: number | undefined;
  /** Told then; false ends it there. */
  readonly told?: ((played: Played) => boolean) | undefined;
}

export async function play({ everyHours = 24, hours, nodes, seed, told = () => true }: PlayOptions): Promise<Played> {
  const world = await startRecordWorld(nodes, seed);
  const dice = new Dice(seed);
  const end = new AbortController();
  try {
    const { fleets, gangs } = draw(dice, nodes);
    const deleted = new Set<string>();
    const oracle = new Oracle(gangs, deleted, () => world.clock.now());
    void follow(world, oracle, end.signal);
    await make(world, fleets, gangs, nodes);
    const actors = new Actors(world, dice, { fleets, nodes, deleted });
    const from = world.clock.now();
    const sofar = async (): Promise<Played> => ({
      hours: Math.round((world.clock.now() - from) / HOUR_MS),
      ...(await account(world, oracle)),
      done: actors.done,
    });
    let looked = 1;
    while (world.clock.now() - from < hours * HOUR_MS) {
      await actors.step();
      const until = world.clock.now() + dice.whole(20, 600) * SECOND_MS;
      while (world.clock.now() < until) {
        await world.pass(5 * SECOND_MS);
        await actors.tend();
      }
      if (world.clock.now() - from < looked * everyHours * HOUR_MS) continue;
      looked += 1;
      const played = await sofar();
      if (!told(played) || played.problems.length > 0) return played;
    }
    for (let at = 0; at < 3 * 3600 && (actors.isBusy || oracle.down.length > 0); at += 5) {
      await world.pass(5 * SECOND_MS);
      await actors.tend();
    }
    const played = await sofar();
    const stuck = oracle.down.map((gang) => `${gang} does not come back`);
    return { ...played, problems: [...played.problems, ...stuck] };
  } finally {
    end.abort();
    await world.stop();
  }
}

function draw(dice: Dice, nodes: number): { fleets: Fleet[]; gangs: Gang[] } {
  const fleets = Array.from({ length: Math.max(2, Math.ceil(nodes / 20)) }, (_, at): Fleet => {
    const name = `fleet${at}`;
    return { name, mostDown: dice.whole(1, 2), policy: drawPolicy(dice, name), since: 0 };
  });
  const gangs = fleets.flatMap((fleet) =>
    Array.from({ length: 6 }, (_, at): Gang => ({ name: `${fleet.name}-g${at}`, fleet, size: dice.whole(1, 4) })),
  );
  return { fleets, gangs };
}

async function follow({ client }: RecordWorld, oracle: Oracle, signal: AbortSignal): Promise<void> {
  for await (const { object, type } of client.watch(podType, { signal })) {
    if (type === 'ERROR') throw new Error(`the watch ended: ${JSON.stringify(object)}`);
    if (type !== 'BOOKMARK') oracle.see(type, object);
  }
}

async function make(
  world: RecordWorld,
  fleets: readonly Fleet[],
  gangs: readonly Gang[],
  nodes: number,
): Promise<void> {
  const { client } = world;
  for (const { name, size } of gangs) {
    const spec = { schedulingPolicy: { gang: { minCount: size } } };
    await client.create(podGroupType, { metadata: { name, namespace }, spec });
  }
  const sets = [
    ...gangs.map(({ fleet, name, size }) => ({ name, fleet: fleet.name, replicas: size, gang: name })),
    { name: 'web', fleet: 'web', replicas: nodes, gang: undefined },
  ];
  for (const { fleet, gang, name, replicas } of sets) {
    const made = deployment({ name, replicas });
    const template = made.spec?.template;
    if (template?.spec === undefined) throw new Error('the Deployment has no template');
    const annotations = { 'nodes.quorate.dev/ready-delay': '10s', 'nodes.quorate.dev/stop-delay': '2s' };
    template.metadata = { annotations, labels: { ...template.metadata?.labels, fleet } };
    Object.assign(template.spec, { terminationGracePeriodSeconds: 5 });
    if (gang !== undefined) Object.assign(template.spec, { schedulingGroup: { podGroupName: gang } });
    await client.create(deploymentType, made);
  }
  for (const { mostDown, name, policy } of fleets) {
    const spec = { maxUnavailable: mostDown, selector: { matchLabels: { fleet: name } } };
    await client.create(podDisruptionBudgetType, podDisruptionBudget({ name, spec }));
    await client.create(disruptionPolicyType, { metadata: { name, namespace }, spec: policy });
  }
  const web = { maxUnavailable: '20%', selector: { matchLabels: { fleet: 'web' } } };
  await client.create(podDisruptionBudgetType, podDisruptionBudget({ name: 'web', spec: web }));
  await world.pass(120 * SECOND_MS);
}

/** Compares what the watch saw with what is written. */
async function account(world: RecordWorld, oracle: Oracle): Promise<Omit<Played, 'hours' | 'done'>> {
  const seenBy = world.clock.now();
  await world.pass(ENTERED_MS);
  const histories: DisruptionHistory[] = (await world.client.list(disruptionHistoryType, {})).items;
  const entries = histories
    .flatMap(({ spec }) => spec?.entries ?? [])
    .filter(({ outcome }) => outcome !== 'Refused' && outcome !== 'Expired')
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const times = new Map<string, number>();
  for (const { pods } of entries) for (const { uid } of pods) times.set(uid, (times.get(uid) ?? 0) + 1);
  const problems = [...oracle.violations];
  const old = [...oracle.went].filter(([, { at }]) => at <= seenBy);
  for (const [uid, { at, name, taken }] of old) {
    const found = times.get(uid) ?? 0;
    const what = `${name} (${uid}), which went at ${new Date(at).toISOString()}`;
    if (taken && found !== 1) problems.push(`${what}, is ${found} times in the record`);
    if (!taken && found !== 0) problems.push(`${what} as its owner wanted, is in the record`);
  }
  const ends = new Map<string, string>();
  for (const { downAt = '', group, groupSeconds = 0, id, wholeAt = '' } of entries) {
    if (groupSeconds === 0) continue;
    if (downAt < (ends.get(group) ?? '')) problems.push(`${id} of ${group} counts seconds that were counted before`);
    ends.set(group, wholeAt);
  }
  const { voluntary, went } = oracle;
  return {
    went: went.size,
    taken: [...went.values()].filter(({ taken }) => taken).length,
    voluntary,
    entries: entries.length,
    problems,
  };
}
