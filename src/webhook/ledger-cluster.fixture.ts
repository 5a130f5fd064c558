/** One ledger as an API server keeps it, and replicas that read, write and watch it, as slowly as a test wants. */
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { DisruptionLedger, DisruptionLedgerStatus } from '../api/quorate/types.ts';
import type { KubeObject } from '../api/resource.ts';
import { DisruptionIndex } from '../decisions/disruption/index.ts';
import {
  type Clock,
  createClient,
  type Informer,
  type InformerHandler,
  ManualClock,
  silentLogger,
  type TransportRequest,
  type TransportResponse,
} from '../machinery/runtime/index.ts';
import { LedgerDesk } from './ledger-desk.ts';
import type { ReviewRequest } from './review.ts';

export const namespace = 'default';

/** What the API server asks about an eviction. */
export const evictionOf = (name: string): ReviewRequest =>
  ({
    uid: '1',
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'eviction',
    namespace,
    name,
    object: {},
  }) as const;

/** Something on its way: a request to the API server, or its answer. */
export interface Delivery {
  readonly replica: LedgerReplica;
  deliver(): void;
}

export class LedgerCluster {
  readonly clock: ManualClock;
  /** The ledger as it is, or as it was when it was deleted. */
  ledger: DisruptionLedger;
  /** Every write that was taken: who wrote which status. */
  readonly writes: { by: string; status: DisruptionLedgerStatus }[] = [];
  readonly requests: string[] = [];
  /** Requests and answers wait here until they are delivered by hand; undefined: they arrive at once. */
  onTheWay: Delivery[] | undefined;
  /** What the next writes are answered with, in place of being taken. */
  readonly refusals: { code: number; reason: string }[] = [];
  /** The ledger was deleted. */
  gone = false;
  /** What is answered to whoever reads a budget or a pod. */
  budget: PodDisruptionBudget | undefined;
  podNamed: (name: string) => Pod | undefined = () => undefined;
  /** The version of each pod there is, and of the last change of one. */
  readonly podVersions = new Map<string, number>();
  podsVersion = 1;
  readonly #replicas: LedgerReplica[] = [];
  #version = 10;

  constructor(status: DisruptionLedgerStatus, clock = new ManualClock()) {
    this.clock = clock;
    this.ledger = { metadata: { name: 'foo', namespace, uid: 'ledger-10', resourceVersion: '10' }, status };
  }

  replica(identity: string, more: { readonly holdsAfterMs?: number } = {}): LedgerReplica {
    const replica = new LedgerReplica(this, identity, more);
    this.#replicas.push(replica);
    return replica;
  }

  /** Somebody else writes. */
  change(status: DisruptionLedgerStatus): void {
    this.#version += 1;
    this.ledger = { metadata: { ...this.ledger.metadata, resourceVersion: String(this.#version) }, status };
    for (const replica of this.#replicas) replica.unseen.push({ ledger: this.ledger, deleted: false });
  }

  /** Somebody deletes the ledger. */
  delete(): void {
    if (this.gone) return;
    this.gone = true;
    this.#version += 1;
    const { metadata, status } = this.ledger;
    const ledger = { metadata: { ...metadata, resourceVersion: String(this.#version) }, status };
    for (const replica of this.#replicas) replica.unseen.push({ ledger, deleted: true });
  }

  #create(): DisruptionLedger {
    this.#version += 1;
    const version = String(this.#version);
    this.gone = false;
    this.ledger = { metadata: { name: 'foo', namespace, uid: `ledger-${version}`, resourceVersion: version } };
    for (const replica of this.#replicas) replica.unseen.push({ ledger: this.ledger, deleted: false });
    return this.ledger;
  }

  send(replica: LedgerReplica, request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(
      `${replica.identity} ${request.method} ${request.path.split('?')[0]?.split('/').slice(-2).join('/')}`,
    );
    if (this.onTheWay === undefined) return Promise.resolve(this.#serve(replica, request));
    return new Promise((resolve) => {
      this.onTheWay?.push({
        replica,
        deliver: () => {
          const answer = this.#serve(replica, request);
          this.onTheWay?.push({ replica, deliver: () => resolve(answer) });
        },
      });
    });
  }

  #serve(replica: LedgerReplica, { body, method, path }: TransportRequest): TransportResponse {
    const named = /\/pods\/([^/?]+)/.exec(path)?.[1];
    if (named !== undefined) return found(this.podNamed(named));
    if (path.includes('/poddisruptionbudgets/')) return found(this.budget);
    // As if something that is no pod had been written last.
    if (path.includes('/pods'))
      return answer(200, {
        items: podObjects(this.podVersions),
        metadata: { resourceVersion: `${this.podsVersion + 1}` },
      });
    if (method === 'POST')
      return this.gone
        ? answer(201, this.#create())
        : answer(409, { kind: 'Status', code: 409, reason: 'AlreadyExists' });
    if (this.gone) return answer(404, { kind: 'Status', code: 404, reason: 'NotFound' });
    if (method === 'GET') return answer(200, this.ledger);
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return answer(refusal.code, { kind: 'Status', ...refusal });
    const wanted = JSON.parse(String(body)) as DisruptionLedger;
    if (wanted.metadata.resourceVersion !== this.ledger.metadata.resourceVersion)
      return answer(409, { kind: 'Status', code: 409, reason: 'Conflict' });
    this.change(wanted.status ?? {});
    this.writes.push({ by: replica.identity, status: wanted.status ?? {} });
    return answer(200, this.ledger);
  }
}

export const podObjects = (versions: ReadonlyMap<string, number>): Pick<KubeObject, 'metadata'>[] =>
  [...versions].map(([name, version]) => ({ metadata: { name, resourceVersion: String(version) } }));

const found = (object: object | undefined): TransportResponse =>
  object === undefined ? answer(404, { kind: 'Status', code: 404, reason: 'NotFound' }) : answer(200, object);

function answer(status: number, body: object): TransportResponse {
  return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
}

/** The clocks of one machine: the one that can be set, and the one that stands still while the machine sleeps. */
export class MachineClock implements Clock {
  readonly #time: Clock;
  setByMs = 0;
  sleptMs = 0;

  constructor(time: Clock) {
    this.#time = time;
  }

  now(): number {
    return this.#time.now() + this.setByMs;
  }

  elapsed(): number {
    return this.#time.elapsed() - this.sleptMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    return this.#time.after(delayMs, callback);
  }
}

export class LedgerReplica {
  readonly identity: string;
  readonly clock: MachineClock;
  readonly index = new DisruptionIndex();
  readonly client;
  readonly desk: LedgerDesk;
  /** What its watch has still to show. */
  readonly unseen: { readonly ledger: DisruptionLedger; readonly deleted: boolean }[] = [];
  /** Whether the pods of now are known, where a ledger is to be taken over. */
  sawPods: (namespace: string, signal: AbortSignal) => Promise<boolean> = () => Promise.resolve(true);
  readonly warnings: string[] = [];
  readonly #handlers: InformerHandler<DisruptionLedger>[] = [];
  #shown: DisruptionLedger | undefined;

  constructor(cluster: LedgerCluster, identity: string, more: { readonly holdsAfterMs?: number } = {}) {
    this.identity = identity;
    this.clock = new MachineClock(cluster.clock);
    this.#shown = cluster.gone ? undefined : cluster.ledger;
    this.client = createClient({ userAgent: 'test', transport: (request) => cluster.send(this, request) });
    const ledgers = {
      get: () => this.#shown,
      addHandler: (handler: InformerHandler<DisruptionLedger>) => {
        this.#handlers.push(handler);
        if (this.#shown !== undefined) handler.added?.(this.#shown, true);
      },
      whenSynced: () => Promise.resolve(),
    } as unknown as Informer<DisruptionLedger>;
    const log = { ...silentLogger, warn: (_: object, message: string) => this.warnings.push(message) };
    this.desk = new LedgerDesk({
      client: this.client,
      clock: this.clock,
      now: () => cluster.clock.now(),
      sawPods: (of, signal) => this.sawPods(of, signal),
      index: this.index,
      ledgers,
      identity,
      log,
      ...more,
    });
  }

  /** The watch shows the next version. */
  show(): void {
    const next = this.unseen.shift();
    if (next === undefined) return;
    const before = this.#shown;
    this.#shown = next.deleted ? undefined : next.ledger;
    for (const { added, deleted, updated } of this.#handlers) {
      if (next.deleted) deleted?.(next.ledger);
      else if (before === undefined) added?.(next.ledger, false);
      else updated?.(next.ledger, before);
    }
  }

  showAll(): void {
    while (this.unseen.length > 0) this.show();
  }
}
