/** A replica of the operator in mode replace: its caches, ledgers, controllers and reviews, on a simulated process. */
import { openHistory } from '../../src/app/operator/history.ts';
import { type Judges, openJudges } from '../../src/app/operator/judges.ts';
import type { Guard } from '../../src/app/operator/guard.ts';
import {
  createClient,
  createServerClock,
  deferred,
  ELECTION_DEADLINE_MS,
  electLeader,
  FeatureGates,
  Metrics,
  silentLogger,
  type Transport,
} from '../../src/machinery/runtime/index.ts';
import { NAME, type ReviewRequest, type ReviewResponse } from '../../src/webhook/index.ts';
import type { SimulatedProcess } from './process.ts';

export interface Replica {
  readonly process: SimulatedProcess;
  /** Whether the Service would send it reviews. */
  isReady(): boolean;
  review(request: ReviewRequest, signal: AbortSignal): Promise<ReviewResponse>;
  stop(): void;
}

export interface ReplicaOptions {
  readonly process: SimulatedProcess;
  readonly transport: Transport;
  readonly random: () => number;
  /** It was the leader and no longer is, or could not start: the process ends. */
  readonly lost: () => void;
}

const NAMESPACE = 'kube-system';

/** The configurations of webhooks are there and in force: this API server asks about every eviction. */
const ARMED: Guard = {
  registered: {
    problem: () => undefined,
    isBehindService: () => true,
    set: () => Promise.resolve(),
    look: () => Promise.resolve(),
    guard: () => Promise.resolve(),
    expect: () => Promise.resolve(),
    isGuarded: () => true,
    isAdopting: () => false,
    hasAbandoned: () => false,
    deleted: () => [],
    found: () => [],
  },
  follow: () => {},
  user: 'quorate',
  mayPublish: () => true,
  onGuarded: (call) => call(['*']),
  linking: () => () => {},
  expect: () => Promise.resolve(),
  onMissed: () => {},
};

export function startReplica({ lost, process, random, transport: raw }: ReplicaOptions): Replica {
  const abort = new AbortController();
  const { clock, transport } = createServerClock(raw, { clock: process, log: silentLogger });
  const client = createClient({ transport, userAgent: 'quorate-operator' });
  const elections = { transport, userAgent: 'quorate-operator', deadlineMs: ELECTION_DEADLINE_MS };
  const elected = deferred();
  let leading = false;
  let judges: Judges | undefined;
  let synced = false;
  const options = {
    namespace: NAMESPACE,
    mode: 'replace' as const,
    bind: '127.0.0.1',
    webhookPort: 0,
    metricsPort: 0,
    identity: process.name,
    // Its kind is not served here; picking has no part in evictions.
    gates: new FeatureGates({ DownscalePodPicker: false }),
    log: silentLogger,
    clock: process,
    lost,
  };
  const open = async (): Promise<void> => {
    const hasUnknownHistory = await openHistory(client, { clock, namespace: NAMESPACE });
    judges = await openJudges(options, {
      client,
      clock,
      leading: elected.promise,
      isLeading: () => leading && synced,
      metrics: new Metrics(),
      send: transport,
      hasUnknownHistory,
      signal: abort.signal,
      guard: ARMED,
      random,
    });
    judges.startControllers();
    void judges.components.informers.whenSynced().then(() => {
      synced = true;
    });
    const client2 = createClient(elections);
    const { identity, log, namespace } = options;
    const election = { client: client2, clock, log, namespace, name: NAME, identity, signal: abort.signal, lost };
    await electLeader(election);
    leading = true;
    elected.resolve();
  };
  open().catch(lost);
  return {
    process,
    isReady: () => synced && judges?.components.informers.problems().length === 0,
    review(request, signal) {
      const handler = judges?.handlers.get('/validate-eviction');
      return handler === undefined ? Promise.reject(new Error('not ready')) : handler(request, signal);
    },
    stop() {
      judges?.components.stop();
      abort.abort(new Error('the process has ended'));
    },
  };
}
