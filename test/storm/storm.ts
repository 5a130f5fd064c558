/** Thirty-two clients evict whatever there is, readiness comes and goes, and replicas are killed at random. */
import { podType } from '../../src/api/resource-types.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';
import { seededRandom } from '../../src/machinery/values/index.ts';
import { Answers } from './answers.ts';
import type { Checker } from './checker.ts';

export interface StormHost {
  /** One for each of the clients. */
  client(): Client;
  readonly checker: Checker;
  /** Absent where there are no replicas. */
  readonly replicas?: StormReplicas | undefined;
}

export interface StormReplicas {
  /** Ends one as a crash would. */
  kill(draw: number): void;
  /** Ends one as a rollout would; false where another is not back yet, for which a rollout waits. */
  roll(draw: number): boolean;
  /** Deletes a ledger by hand; false when it was not there. */
  loseLedger(draw: number): Promise<boolean>;
}

export interface StormOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly clients?: number;
  /** How many ledgers to delete by hand, spread over the time; without it one every few seconds. */
  readonly ledgers?: number | undefined;
}

export interface StormResult {
  /** Answers to evictions by code; what the API server says because it reached no replica stands apart. */
  readonly answers: Readonly<Record<string, number>>;
  /** Evictions granted in each tenth of the time: one that stands still for long asks little of a budget. */
  readonly granted: readonly number[];
  /** When replicas were ended, in seconds. */
  readonly kills: readonly number[];
  readonly rollovers: readonly number[];
  readonly lostLedgers: number;
  readonly violations: readonly string[];
  readonly worst: ReadonlyMap<string, number>;
  /** How often a gang went down. */
  readonly outages: number;
  /** Answers that no eviction may get. */
  readonly forbidden: readonly string[];
}

/**
 * Nothing is granted under a ledger for 75 s after its holder was killed. Kills are as far apart as lets another take it
 * over and grant; a rollout hands ledgers over at once and may come at any time.
 */
const FIRST_KILL_MS = [12_000, 36_000] as const;
const KILL_EVERY_MS = [85_000, 110_000] as const;
const ROLL_EVERY_MS = [8_000, 30_000] as const;
const LOSE_EVERY_MS = [2_000, 10_000] as const;

export async function playStorm(
  host: StormHost,
  { clients = 32, ledgers, seconds, seed }: StormOptions,
): Promise<StormResult> {
  const random = seededRandom(seed);
  const { checker } = host;
  const answers = new Answers(seconds * 1000);
  const endsAt = Date.now() + seconds * 1000;
  const isOver = (): boolean => Date.now() >= endsAt;
  const kills: number[] = [];
  const rollovers: number[] = [];
  let lostLedgers = 0;
  /** Resolves after a drawn time; false when the storm ended before. */
  async function waitWithin([least, most]: readonly [number, number]): Promise<boolean> {
    await pause(Math.min(least + random() * (most - least), endsAt - Date.now()));
    return !isOver();
  }

  async function evictOn(client: Client): Promise<void> {
    while (!isOver()) {
      const pods = checker.pods();
      const pod = pods[Math.floor(random() * pods.length)];
      if (pod === undefined) {
        await pause(20);
        continue;
      }
      const { name = '', namespace } = pod.metadata;
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
      try {
        await client.createSubresource(podType, { namespace, name }, 'eviction', body);
        answers.noteGrant();
      } catch (error) {
        answers.noteFailure(error);
        await pause(20 + random() * 180);
      }
    }
  }

  async function flap(): Promise<void> {
    const client = host.client();
    while (!isOver()) {
      const pods = checker.pods();
      const { name = '', namespace } = pods[Math.floor(random() * pods.length)]?.metadata ?? {};
      await setUnready(client, { name, namespace }, true);
      await pause(100 + random() * 400);
      await setUnready(client, { name, namespace }, false);
      await pause(random() * 1500);
    }
  }

  async function kill(replicas: StormReplicas): Promise<void> {
    for (let next: readonly [number, number] = FIRST_KILL_MS; await waitWithin(next); next = KILL_EVERY_MS) {
      replicas.kill(random());
      answers.replicaKilled();
      kills.push(answers.seconds());
    }
  }

  async function roll(replicas: StormReplicas): Promise<void> {
    while (await waitWithin(ROLL_EVERY_MS)) if (replicas.roll(random())) rollovers.push(answers.seconds());
  }

  async function loseLedgers(replicas: StormReplicas): Promise<void> {
    const each = ledgers === undefined ? undefined : (seconds * 1000) / (ledgers + 1);
    while (await waitWithin(each === undefined ? LOSE_EVERY_MS : [each, each]))
      if (await replicas.loseLedger(random())) lostLedgers += 1;
  }

  checker.begin();
  const evicting = Array.from({ length: clients }, () => evictOn(host.client()));
  const { replicas } = host;
  const faults = replicas === undefined ? [] : [kill(replicas), roll(replicas), loseLedgers(replicas)];
  await Promise.all([...evicting, flap(), flap(), ...faults]);
  const { counts, forbidden, granted } = answers;
  const { violations, worst } = checker;
  const outages = checker.outages();
  return { answers: counts, granted, kills, rollovers, lostLedgers, violations, worst, outages, forbidden };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** A simulated node takes readiness away for as long as this stands on the pod. */
async function setUnready(
  client: Client,
  key: { name: string; namespace?: string | undefined },
  unready: boolean,
): Promise<void> {
  const annotations = { 'nodes.quorate.dev/not-ready': unready ? 'true' : null };
  // The pod may have gone meanwhile.
  await client.patch(podType, key, { type: 'merge', body: { metadata: { annotations } } }).catch(() => {});
}

/** What is wrong with a run; nothing where it was as it must be. */
export function complaints({ answers, forbidden, violations }: StormResult): string[] {
  return [
    ...violations.slice(0, 3),
    ...forbidden.slice(0, 3).map((one) => `an eviction was answered with ${one}`),
    ...((answers['201'] ?? 0) === 0 ? ['nothing was evicted'] : []),
  ];
}
