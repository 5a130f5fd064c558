/** A whole plane in this process that holds a snapshot and whose time is moved by hand. */
import { inProcessTransport } from '../../apiserver/index.ts';
import {
  type Client,
  createClient,
  ManualClock,
  settle,
  silentLogger,
  type Controller,
} from '../../machinery/runtime/index.ts';
import { parseTime, seededRandom, seededUuids } from '../../machinery/values/index.ts';
import { createSimulatedNodes } from '../../nodes/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { bootstrapObjects } from '../../app/bootstrap.ts';
import { componentUser } from '../../app/component-user.ts';
import { simulatedComponents } from '../../app/components.ts';
import { createPlane, type PlaneOptions } from '../../app/plane.ts';
import { runComponents } from '../../app/run-components.ts';
import type { Snapshot } from '../snapshot/index.ts';
import { loadSnapshot } from './load.ts';

export interface World {
  readonly client: Client;
  readonly clock: ManualClock;
  /** What could not be loaded. */
  readonly problems: readonly string[];
  /** Moves time and lets everything that is due happen. */
  advance(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** Hardly ever: here nobody listens for beats, and each is work. */
const HEARTBEAT_MS = 24 * 3_600_000;

export async function startWorld(
  snapshot: Snapshot,
  { extra, guards, seed }: { seed: number; extra: readonly Controller[]; guards?: PlaneOptions['guards'] },
): Promise<World> {
  const clock = new ManualClock(parseTime(snapshot.takenAt) ?? 0);
  const random = seededRandom(seed);
  const store = createMemoryStore({ now: () => clock.now() });
  const plane = createPlane({ store, clock, log: silentLogger, random, newUid: seededUuids(seed), guards });
  const transportFor = (component: string) => inProcessTransport(plane.handle, componentUser(component));
  const client = createClient({ transport: transportFor('quorate'), userAgent: 'quorate-simulate' });
  await bootstrapObjects(client);
  const problems = await loadSnapshot(client, snapshot);
  const components = runComponents({ transportFor, clock, log: silentLogger, random }, [
    ...simulatedComponents(),
    createSimulatedNodes({ count: 0, seed, heartbeatMs: HEARTBEAT_MS }),
    ...extra,
  ]);
  await components.informers.whenSynced();
  const rest = async (): Promise<void> => {
    for (let round = 0; round < 500; round += 1) {
      await settle(4);
      if (components.isIdle()) return;
    }
  };
  await rest();
  return {
    client,
    clock,
    problems,
    async advance(ms) {
      await clock.advance(ms);
      await rest();
    },
    async stop() {
      components.stop();
      plane.close();
      await settle();
      await store.close();
    },
  };
}
