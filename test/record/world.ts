/** A whole plane that keeps the record, with time moved by hand, and without what nobody looks at here. */
import type { Node } from '../../src/api/generated/core-v1.ts';
import { inProcessTransport, systemAdmin } from '../../src/apiserver/index.ts';
import { bootstrapObjects } from '../../src/app/bootstrap.ts';
import { componentUser } from '../../src/app/component-user.ts';
import { embeddedComponents } from '../../src/app/components.ts';
import { createPlane } from '../../src/app/plane.ts';
import { runComponents } from '../../src/app/run-components.ts';
import { AnswerQueue } from '../../src/decisions/history/index.ts';
import {
  type Client,
  createClient,
  ManualClock,
  settle,
  silentLogger,
  type Transport,
} from '../../src/machinery/runtime/index.ts';
import { freezeSharedObjects, seededRandom, seededUuids } from '../../src/machinery/values/index.ts';
import { createSimulatedNodes, POWER } from '../../src/nodes/index.ts';
import { createMemoryStore, type Store } from '../../src/storage/index.ts';

/** They look at every pod, and nothing here asks about what they make. */
const NOT_PLAYED = /endpoint|service-?account|cluster-role|event-ttl|horizontal/i;
const DAY_MS = 24 * 3_600_000;
/** What is older is never asked for again; without that a month of changes would have to be kept. */
const REMEMBERED_REVISIONS = 5000;

export interface RecordWorld {
  readonly client: Client;
  readonly clock: ManualClock;
  clientFor(username: string): Client;
  /** Moves time and lets everything that is due happen. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startRecordWorld(nodes: number, seed: number): Promise<RecordWorld> {
  freezeSharedObjects();
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const store: Store = createMemoryStore({ now: () => clock.now() });
  const answers = new AnswerQueue();
  const plane = createPlane({ store, clock, log: silentLogger, random, newUid: seededUuids(seed), answers });
  const transportFor = (component: string): Transport => inProcessTransport(plane.handle, componentUser(component));
  const as = (username: string): Client =>
    createClient({
      transport: inProcessTransport(
        plane.handle,
        username === systemAdmin.username ? systemAdmin : { username, groups: ['system:authenticated'] },
      ),
      userAgent: username,
    });
  const client = as(systemAdmin.username);
  await bootstrapObjects(client);
  // Thousands of beats a day are most of the work: who has power lives.
  const isAlive = ({ metadata }: Node): boolean => metadata.annotations?.[POWER] !== 'off';
  const components = runComponents({ transportFor, clock, log: silentLogger, random }, [
    ...embeddedComponents({ authority: '', isAlive, history: { answers } }).filter(
      ({ name }) => !NOT_PLAYED.test(name),
    ),
    createSimulatedNodes({ count: nodes, seed, heartbeatMs: DAY_MS }),
  ]);
  await components.informers.whenSynced();
  const rest = async (): Promise<void> => {
    for (let round = 0; round < 500; round += 1) {
      await settle(4);
      if (components.isIdle()) return;
    }
    throw new Error('the controllers do not come to rest');
  };
  await rest();
  return {
    client,
    clock,
    clientFor: as,
    async pass(ms) {
      await clock.advance(ms);
      await rest();
      if (store.revision > REMEMBERED_REVISIONS) store.compact(store.revision - REMEMBERED_REVISIONS);
    },
    async stop() {
      components.stop();
      plane.close();
      await settle();
      await store.close();
    },
  };
}
