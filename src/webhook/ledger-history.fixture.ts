/**
 * One budget under several replicas, as a history plays it: an API server that carries out what it was granted whenever
 * it gets to it, pods that come and go, and watches that show all of it late. What is down by evictions is told by
 * looking at pods alone.
 */
import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { DisruptionLedgerStatus } from '../api/quorate/types.ts';
import {
  computeAllowed,
  isStillThere,
  keepGrants,
  readBudget,
  readPod,
  readWorkload,
} from '../decisions/disruption/index.ts';
import { budgetObject, groupUnits, NOW } from '../decisions/disruption/fixtures.ts';
import { ManualClock } from '../machinery/runtime/index.ts';
import type { EvictionWebhook } from './eviction.ts';
import { reviewEviction } from './review.fixture.ts';
import { evictionOf, LedgerCluster, type LedgerReplica, namespace } from './ledger-cluster.fixture.ts';
import { ABANDONED_MS } from './ledger-hold.ts';
import type { Preconditions } from './pins.ts';
import { sawPodsOfNow } from './pods-seen.ts';
import type { ReviewResponse } from './review.ts';

export const GROUPS = 5;
export const SIZE = 2;
/** An API server gives a request up after a minute. */
const EXECUTION_MS = 60_000;

type Shown = { readonly pod: Pod; readonly gone: boolean } | { readonly budget: PodDisruptionBudget };

export interface Member {
  readonly replica: LedgerReplica;
  readonly webhook: EvictionWebhook;
  /** What its watches have still to show. */
  readonly unseen: Shown[];
  readonly pods: Map<string, Pod>;
  podsVersion: number;
  budget: PodDisruptionBudget;
  readonly startedMs: number;
  dead: boolean;
}

interface Granted {
  readonly name: string;
  readonly preconditions: Preconditions;
  readonly askedMs: number;
}

/** A place in a group that one pod after another takes. */
interface Slot {
  readonly group: number;
  readonly at: number;
  /** Names of StatefulSets come again; others are new each time. */
  readonly nameReturns: boolean;
  pod: Pod | undefined;
  made: number;
  /** Its pod was evicted, and none has been Ready in its place since. */
  evicted: boolean;
}

export class World {
  readonly clock = new ManualClock(NOW);
  readonly cluster: LedgerCluster;
  readonly slots: Slot[] = [];
  readonly granted: Granted[] = [];
  members: Member[] = [];
  grants = 0;
  carriedOut = 0;
  readonly #changes: 'read' | 'barrier';
  /** How many groups may be down, and since when that counts. */
  readonly #limits: { readonly allowed: number; readonly sinceMs: number }[];
  #started = 0;

  constructor(allowed: number, members: number, changes: 'read' | 'barrier') {
    this.#changes = changes;
    this.#limits = [{ allowed, sinceMs: NOW }];
    const desired = GROUPS - allowed;
    const budget = budgetObject({
      spec: { minAvailable: desired },
      status: [allowed, GROUPS, desired, GROUPS],
      conditions: [groupUnits],
    });
    this.cluster = new LedgerCluster({ ...budget.status, podsResourceVersion: '1', grants: [] }, this.clock);
    this.cluster.budget = budget;
    this.cluster.podNamed = (name) => this.slots.find(({ pod }) => pod?.metadata.name === name)?.pod;
    this.cluster.onTheWay = [];
    for (let group = 0; group < GROUPS; group += 1) {
      for (let at = 0; at < SIZE; at += 1) {
        const slot: Slot = { group, at, nameReturns: group % 2 === 0, pod: undefined, made: 0, evicted: false };
        this.slots.push(slot);
        this.#put(slot, { ...newPod(slot), status: running(true) });
      }
    }
    for (let at = 0; at < members; at += 1) this.start();
  }

  get budget(): PodDisruptionBudget {
    return this.cluster.budget as PodDisruptionBudget;
  }

  start(): void {
    this.#started += 1;
    const replica = this.cluster.replica(`r${this.#started}`);
    const { index } = replica;
    const podGroups = [{ name: 'g', replicas: GROUPS, policy: { gang: { minCount: SIZE } } }];
    index.setWorkload(namespace, 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
    const pods = new Map<string, Pod>();
    for (const { pod } of this.slots) if (pod !== undefined) pods.set(pod.metadata.name ?? '', pod);
    for (const pod of pods.values()) index.setPod(readPod(pod));
    index.setBudget(readBudget({ ...this.budget, status: this.cluster.ledger.status ?? {} }));
    const member: Member = {
      replica,
      unseen: [],
      pods,
      podsVersion: this.cluster.podsVersion,
      budget: this.budget,
      startedMs: this.clock.now(),
      dead: false,
      webhook: {
        client: replica.client,
        clock: this.clock,
        index,
        budget: () => member.budget,
        isCordoned: () => false,
        podsResourceVersion: () => String(member.podsVersion),
        podsIn: () => [...member.pods.values()],
        ledgers: replica.desk,
        identity: replica.identity,
        changes: this.#changes,
      },
    };
    replica.sawPods = (of, signal) => sawPodsOfNow(member.webhook, of, signal);
    this.members.push(member);
  }

  ask(member: Member, name: string): void {
    const askedMs = this.clock.now();
    reviewEviction(member.webhook, evictionOf(name), new AbortController().signal).then(
      (response) => {
        if (!response.allowed || member.dead || this.clock.now() > askedMs + EXECUTION_MS) return;
        this.grants += 1;
        this.granted.push({ name, preconditions: pinsOf(response), askedMs });
      },
      () => {},
    );
  }

  /** What the API server does with an eviction that was let pass, once it gets to it. */
  carryOut({ askedMs, name, preconditions }: Granted): void {
    const slot = this.slots.find(({ pod }) => pod?.metadata.name === name);
    const pod = slot?.pod;
    if (slot === undefined || pod === undefined) return;
    const { resourceVersion, uid } = preconditions;
    if (uid !== undefined && uid !== pod.metadata.uid) return;
    if (resourceVersion !== undefined && resourceVersion !== pod.metadata.resourceVersion) return;
    const isExempt = pod.status?.phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined;
    if (!isExempt && this.#isBehindBarrier()) return;
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const wasDown = this.#isDown(slot.group);
    slot.evicted = true;
    this.carriedOut += 1;
    this.#put(slot, { ...pod, metadata: { ...pod.metadata, deletionTimestamp: new Date(NOW).toISOString() } });
    if (!wasDown) this.#check(askedMs, name);
  }

  /** A pod that is going is gone. */
  vanish(slot: Slot): void {
    if (slot.pod?.metadata.deletionTimestamp === undefined) return;
    const { pod } = slot;
    slot.pod = undefined;
    this.cluster.podVersions.delete(pod.metadata.name ?? '');
    this.#show({ pod, gone: true });
  }

  /** Its controller makes another, which has not started. */
  replace(slot: Slot): void {
    if (slot.pod === undefined) this.#put(slot, newPod(slot));
  }

  setReady(slot: Slot, ready: boolean): void {
    const { pod } = slot;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    if (ready) slot.evicted = false;
    this.#put(slot, { ...pod, status: running(ready) });
  }

  /** Somebody changes the budget. Where it is read, that counts at once; else from when the controller says so. */
  allow(allowed: number): void {
    const { metadata, ...rest } = this.budget;
    const generation = (metadata.generation ?? 0) + 1;
    this.#setBudget({
      ...rest,
      metadata: { ...metadata, generation },
      spec: { ...rest.spec, minAvailable: GROUPS - allowed },
    });
    if (this.#changes === 'read') this.#limits.push({ allowed, sinceMs: this.clock.now() });
  }

  /** What the controller does: counts the pods it sees, drops the grants that are over, makes ledgers that are gone. */
  count(member: Member): void {
    const { budget, podsVersion, replica, webhook } = member;
    const { index } = webhook;
    const ledger = replica.desk.get(namespace, 'foo');
    const now = this.clock.now();
    const before: DisruptionLedgerStatus = ledger?.status ?? {};
    if (podsVersion < Number(before.podsResourceVersion ?? 0)) return;
    const { kept, overdue } = keepGrants(before.grants ?? [], (name) => member.pods.get(name), now);
    const grants = [...kept, ...overdue.filter((one) => !isStillThere(one, this.cluster.podNamed(one.name)))];
    const listed = { ...before, grants, disruptedPods: {} };
    index.setBudget(readBudget({ ...budget, status: listed }));
    const healthy = index.count(namespace, 'foo', now)?.healthy ?? 0;
    const desired = Number(budget.spec?.minAvailable);
    const status: DisruptionLedgerStatus = {
      ...listed,
      conditions: budget.status?.conditions,
      currentHealthy: healthy,
      disruptionsAllowed: computeAllowed(healthy, desired, GROUPS),
      observedGeneration: budget.metadata.generation,
      podsResourceVersion: String(podsVersion),
    };
    const unknown = now - member.startedMs < ABANDONED_MS;
    const release = this.#changes === 'barrier' && before.observedGeneration !== status.observedGeneration;
    const made = ledger ?? { metadata: { name: 'foo', namespace } };
    const written =
      ledger?.status === undefined
        ? replica.desk.begin(made, status, { unknown })
        : replica.desk.write(ledger, status, { release });
    written.then(
      () => this.#lift(budget),
      () => {},
    );
  }

  /** The controller says that a change counts. */
  #lift({ metadata: { generation = 0 }, spec }: PodDisruptionBudget): void {
    if (generation !== this.budget.metadata.generation || !this.#isBehindBarrier()) return;
    if (this.#changes === 'barrier')
      this.#limits.push({ allowed: GROUPS - Number(spec?.minAvailable), sinceMs: this.clock.now() });
    this.#setBudget({ ...this.budget, status: { ...this.budget.status, observedGeneration: generation } });
  }

  #isBehindBarrier(): boolean {
    const { metadata, status } = this.budget;
    return (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
  }

  #setBudget(budget: PodDisruptionBudget): void {
    this.cluster.budget = budget;
    this.#show({ budget });
  }

  #put(slot: Slot, pod: Pod): void {
    this.cluster.podsVersion += 2;
    const version = this.cluster.podsVersion;
    slot.pod = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(version) } };
    this.cluster.podVersions.set(pod.metadata.name ?? '', version);
    this.#show({ pod: slot.pod, gone: false });
  }

  #show(shown: Shown): void {
    const isGone = 'gone' in shown && shown.gone;
    if (isGone) this.cluster.podsVersion += 2;
    const version = String(this.cluster.podsVersion);
    const event = isGone
      ? { ...shown, pod: { ...shown.pod, metadata: { ...shown.pod.metadata, resourceVersion: version } } }
      : shown;
    for (const member of this.members) member.unseen.push(event);
  }

  #isDown(group: number): boolean {
    return this.slots.some((slot) => slot.group === group && slot.evicted);
  }

  /** As many as were ever allowed between the question and now may be down. */
  #check(askedMs: number, name: string): void {
    const down = new Set(this.slots.filter(({ evicted }) => evicted).map(({ group }) => group)).size;
    let allowed = 0;
    for (const [at, limit] of this.#limits.entries()) {
      const untilMs = this.#limits[at + 1]?.sinceMs ?? Number.POSITIVE_INFINITY;
      if (untilMs >= askedMs) allowed = Math.max(allowed, limit.allowed);
    }
    if (down > allowed) throw new Error(`${down} groups are down by evictions and ${allowed} may be, with ${name}`);
  }
}

/** A watch shows the next thing. */
export function showNext(member: Member): void {
  const shown = member.unseen.shift();
  if (shown === undefined) return;
  if ('budget' in shown) {
    member.budget = shown.budget;
    return;
  }
  const { gone, pod } = shown;
  const { name = '', resourceVersion } = pod.metadata;
  if (gone) {
    member.pods.delete(name);
    member.webhook.index.deletePod(namespace, name);
  } else {
    member.pods.set(name, pod);
    member.webhook.index.setPod(readPod(pod));
  }
  member.podsVersion = Number(resourceVersion);
}

function pinsOf({ patch }: ReviewResponse): Preconditions {
  if (patch === undefined) return {};
  const [step] = JSON.parse(Buffer.from(patch, 'base64').toString()) as { value: { preconditions: Preconditions } }[];
  return step?.value.preconditions ?? {};
}

const running = (ready: boolean): Pod['status'] => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
});

function newPod(slot: Slot): Pod {
  slot.made += 1;
  const plain = `g${slot.group}p${slot.at}`;
  const name = slot.nameReturns ? plain : `${plain}-${slot.made}`;
  const owner = { apiVersion: 'apps/v1', kind: slot.nameReturns ? 'StatefulSet' : 'ReplicaSet', controller: true };
  return {
    metadata: {
      name,
      namespace,
      uid: `${plain}/${slot.made}`,
      labels: { app: 'a' },
      ownerReferences: [{ ...owner, name: 'o', uid: `o${slot.group}` }],
    },
    spec: { containers: [], workloadRef: { name: 'w', podGroup: 'g', podGroupReplicaKey: `${slot.group}` } },
    status: { phase: 'Pending' },
  } as unknown as Pod;
}
