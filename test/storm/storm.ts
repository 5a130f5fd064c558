/** Thirty-two clients evict whatever there is, readiness comes and goes, and replicas are killed at random. */
import { podType } from '../../src/api/resource-types.ts';
import { ApiError, type Client } from '../../src/machinery/runtime/index.ts';
import { seededRandom } from '../../src/machinery/values/index.ts';
import type { Checker } from './checker.ts';

export interface StormHost {
  /** One for each of the clients. */
  client(): Client;
  readonly checker: Checker;
  /** Ends a replica as a crash would; absent where there are none. */
  readonly killReplica?: ((draw: number) => void) | undefined;
  /** Deletes a ledger by hand, where there are any; false when it was not there. */
  readonly loseLedger?: ((draw: number) => Promise<boolean>) | undefined;
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
  readonly kills: number;
  readonly lostLedgers: number;
  readonly violations: readonly string[];
  readonly worst: ReadonlyMap<string, number>;
  /** Answers that no eviction may get. */
  readonly forbidden: readonly string[];
}

/** Long enough that a ledger whose holder was killed is taken over now and then. */
const KILL_EVERY_MS = [12_000, 40_000] as const;

export async function playStorm(
  host: StormHost,
  { clients = 32, ledgers, seconds, seed }: StormOptions,
): Promise<StormResult> {
  const random = seededRandom(seed);
  const { checker } = host;
  const answers: Record<string, number> = {};
  const forbidden: string[] = [];
  const endsAt = Date.now() + seconds * 1000;
  const isOver = (): boolean => Date.now() >= endsAt;
  const note = (answer: string): void => {
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  let kills = 0;
  let lostLedgers = 0;

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
        note('201');
      } catch (error) {
        const { code, message } = error instanceof ApiError ? error : { code: 0, message: String(error) };
        const unreached = code === 500 ? whyUnreached(message) : undefined;
        note(unreached === undefined ? String(code) : `500 (no replica reached: ${unreached})`);
        if (unreached === undefined && (code === 403 || code === 500)) forbidden.push(`${code} ${message}`);
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

  async function kill(): Promise<void> {
    const [least, most] = KILL_EVERY_MS;
    for (;;) {
      await pause(Math.min(least + random() * (most - least), endsAt - Date.now()));
      if (isOver()) return;
      host.killReplica?.(random());
      kills += 1;
    }
  }

  async function loseLedgers(): Promise<void> {
    for (;;) {
      const next = ledgers === undefined ? 2000 + random() * 8000 : (seconds * 1000) / (ledgers + 1);
      await pause(Math.min(next, endsAt - Date.now()));
      if (isOver()) return;
      if (await host.loseLedger?.(random())) lostLedgers += 1;
    }
  }

  checker.begin();
  const evicting = Array.from({ length: clients }, () => evictOn(host.client()));
  await Promise.all([...evicting, flap(), flap(), ...(host.killReplica === undefined ? [] : [kill(), loseLedgers()])]);
  return { answers, kills, lostLedgers, violations: checker.violations, worst: checker.worst, forbidden };
}

/** How connections end that nobody answers. Whatever else the API server says of a webhook, a replica has said. */
const UNREACHED =
  /EOF|connection refused|connection reset|deadline exceeded|Client\.Timeout|broken pipe|server sent GOAWAY/;

/** What the API server says by itself when it asks a webhook and gets no answer. */
function whyUnreached(message: string): string | undefined {
  return message.includes('failed calling webhook') ? UNREACHED.exec(message)?.[0] : undefined;
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
