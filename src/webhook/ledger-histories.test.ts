/**
 * Whole histories of one budget under several replicas: evictions asked of any of them, requests, answers and watches
 * that arrive late, a controller that moves from one to another, replicas that die with what they were about to write,
 * machines that sleep or whose clocks are set, and pods that come back. Whatever the order, no more groups are down than the budget allows.
 */
import fc from 'fast-check';
import { test } from 'vitest';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import { readBudget, readWorkload } from '../decisions/disruption/index.ts';
import { budgetObject, groupUnits, member, NOW } from '../decisions/disruption/fixtures.ts';
import { ManualClock, settle } from '../machinery/runtime/index.ts';
import { type EvictionWebhook, reviewEviction } from './eviction.ts';
import { evictionOf, LedgerCluster, type LedgerReplica, namespace, podObjects } from './ledger-cluster.fixture.ts';

const GROUPS = 5;
const SIZE = 2;
const HISTORIES = Number(process.env['QUORATE_HISTORIES'] ?? 150);
/** An API server gives a request up after a minute. */
const EXECUTION_MS = 60_000;

const choice = fc.nat(1000);
const longMs = fc.constantFrom(16_000, 76_000);
const byMs = fc.constantFrom(-3_600_000, -14_000, 76_000, 3_600_000);
const step = fc.oneof(
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('ask' as const), choice, other: choice }) },
  { weight: 50, arbitrary: fc.record({ kind: fc.constant('deliver' as const), choice }) },
  { weight: 25, arbitrary: fc.record({ kind: fc.constant('show' as const), choice }) },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('execute' as const), choice }) },
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('return' as const), choice }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('count' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lead' as const), choice }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), choice }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('set' as const), choice, byMs }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sleep' as const), choice, ms: longMs }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(20, 500, 2100) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: longMs }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface PodChange {
  readonly name: string;
  readonly up: boolean;
  readonly version: number;
}

interface Member {
  readonly replica: LedgerReplica;
  readonly webhook: EvictionWebhook;
  /** Changes of pods that its watch has still to show. */
  readonly unseen: PodChange[];
  podsVersion: number;
  readonly podVersions: Map<string, number>;
  dead: boolean;
}

class History {
  readonly #clock = new ManualClock(NOW);
  readonly #cluster: LedgerCluster;
  readonly #budget: PodDisruptionBudget;
  readonly #allowed: number;
  readonly #pods = new Map<string, boolean>();
  readonly #granted: { pod: string; untilMs: number }[] = [];
  #members: Member[] = [];
  #started = 0;
  #leader = 0;
  grants = 0;

  constructor(allowed: number, members: number) {
    this.#allowed = allowed;
    const desired = GROUPS - allowed;
    this.#budget = budgetObject({
      spec: { minAvailable: desired },
      status: [allowed, GROUPS, desired, GROUPS],
      conditions: [groupUnits],
    });
    for (let group = 0; group < GROUPS; group += 1)
      for (let at = 0; at < SIZE; at += 1) this.#pods.set(`g${group}p${at}`, true);
    this.#cluster = new LedgerCluster({ ...this.#budget.status, podsResourceVersion: '1' }, this.#clock);
    this.#cluster.onTheWay = [];
    for (const name of this.#pods.keys()) this.#cluster.podVersions.set(name, 1);
    for (let at = 0; at < members; at += 1) this.#start();
  }

  #start(): void {
    this.#started += 1;
    const replica = this.#cluster.replica(`r${this.#started}`);
    const { index } = replica;
    const podGroups = [{ name: 'g', replicas: GROUPS, policy: { gang: { minCount: SIZE } } }];
    index.setWorkload(namespace, 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
    for (const [name, up] of this.#pods) if (up) index.setPod(podOf(name));
    index.setBudget(readBudget({ ...this.#budget, status: this.#cluster.ledger.status ?? {} }));
    const member: Member = {
      replica,
      unseen: [],
      podsVersion: this.#cluster.podsVersion,
      podVersions: new Map(this.#cluster.podVersions),
      dead: false,
      webhook: {
        client: replica.client,
        clock: this.#clock,
        index,
        budget: () => this.#budget,
        isCordoned: () => false,
        podsResourceVersion: () => String(member.podsVersion),
        podsIn: () => podObjects(member.podVersions),
        ledgers: replica.desk,
      },
    };
    this.#members.push(member);
  }

  async play(one: Step): Promise<void> {
    const members = this.#members;
    const pick = (at: number): Member => members[at % members.length] as Member;
    switch (one.kind) {
      case 'ask':
        this.#ask(pick(one.choice), `g${one.other % GROUPS}p${Math.floor(one.other / GROUPS) % SIZE}`);
        break;
      case 'deliver': {
        const [delivery] =
          this.#cluster.onTheWay?.splice(one.choice % Math.max(1, this.#cluster.onTheWay.length), 1) ?? [];
        // What a dead replica had sent may still arrive; it gets no answer.
        delivery?.deliver();
        break;
      }
      case 'show': {
        const member = pick(one.choice);
        if (one.choice % 2 === 0) member.replica.show();
        else this.#showPod(member);
        break;
      }
      case 'execute': {
        const [grant] = this.#granted.splice(one.choice % Math.max(1, this.#granted.length), 1);
        if (grant !== undefined) this.#setPod(grant.pod, false);
        break;
      }
      case 'return': {
        const down = [...this.#pods].filter(([, up]) => !up);
        const [name] = down[one.choice % Math.max(1, down.length)] ?? [];
        if (name !== undefined) this.#setPod(name, true);
        break;
      }
      case 'count':
        this.#count(pick(this.#leader));
        break;
      case 'lead':
        this.#leader = one.choice;
        break;
      case 'die': {
        const dying = pick(one.choice);
        dying.dead = true;
        this.#members = members.filter((member) => member !== dying);
        this.#start();
        break;
      }
      case 'set':
        pick(one.choice).replica.clock.setByMs += one.byMs;
        break;
      case 'sleep':
        // The rest of the world goes on meanwhile; its clock is right when it wakes.
        await this.#wait(one.ms);
        pick(one.choice).replica.clock.sleptMs += one.ms;
        break;
      case 'wait':
        await this.#wait(one.ms);
        break;
    }
    await settle(3);
    this.#check(one);
  }

  #ask(member: Member, name: string): void {
    const untilMs = this.#clock.now() + EXECUTION_MS;
    reviewEviction(member.webhook, evictionOf(name), new AbortController().signal).then(
      ({ allowed }) => {
        if (!allowed || member.dead || this.#clock.now() > untilMs) return;
        this.grants += 1;
        this.#granted.push({ pod: name, untilMs });
      },
      () => {},
    );
  }

  /** Time passes in which nothing else arrives; what was granted is carried out while its request lasts, or never. */
  async #wait(ms: number): Promise<void> {
    const end = this.#clock.now() + ms;
    for (const grant of this.#granted.splice(0)) {
      if (grant.untilMs >= end) this.#granted.push(grant);
      else this.#setPod(grant.pod, false);
    }
    await this.#clock.advance(ms);
  }

  #setPod(name: string, up: boolean): void {
    if (this.#pods.get(name) === up) return;
    this.#pods.set(name, up);
    this.#cluster.podsVersion += 2;
    note(this.#cluster.podVersions, { name, up, version: this.#cluster.podsVersion });
    for (const member of this.#members) member.unseen.push({ name, up, version: this.#cluster.podsVersion });
  }

  #showPod(member: Member): void {
    const change = member.unseen.shift();
    if (change === undefined) return;
    if (change.up) member.webhook.index.setPod(podOf(change.name));
    else member.webhook.index.deletePod(namespace, change.name);
    note(member.podVersions, change);
    member.podsVersion = change.version;
  }

  /** What the controller does: counts the pods it sees and drops the grants that show in them. */
  #count({ podsVersion, replica, webhook }: Member): void {
    const ledger = replica.desk.get(namespace, 'foo');
    if (ledger === undefined) return;
    const { index } = webhook;
    const now = this.#clock.now();
    const status = ledger.status ?? {};
    const disruptedPods = Object.fromEntries(
      Object.entries(status.disruptedPods ?? {}).filter(
        ([name, at]) => index.pod(namespace, name) !== undefined && Date.parse(at) + 120_000 >= now,
      ),
    );
    index.setBudget(readBudget({ ...this.#budget, status: { ...status, disruptedPods } }));
    const healthy = index.count(namespace, 'foo', now)?.healthy ?? 0;
    const disruptionsAllowed = Math.max(0, healthy - (GROUPS - this.#allowed));
    const numbers = { ...status, disruptedPods, currentHealthy: healthy, disruptionsAllowed };
    replica.desk.write(ledger, { ...numbers, podsResourceVersion: String(podsVersion) }).catch(() => {});
  }

  #check(after: Step): void {
    let down = 0;
    for (let group = 0; group < GROUPS; group += 1) {
      const up = Array.from({ length: SIZE }, (_, at) => this.#pods.get(`g${group}p${at}`) === true);
      if (up.includes(false)) down += 1;
    }
    if (down > this.#allowed)
      throw new Error(`${down} groups are down, ${this.#allowed} may be, after ${JSON.stringify(after)}`);
  }
}

function note(versions: Map<string, number>, { name, up, version }: PodChange): void {
  if (up) versions.set(name, version);
  else versions.delete(name);
}

const podOf = (name: string) => member(name, { key: name.slice(1, 2) });

test('never more groups down than allowed, whatever arrives late, whoever dies, sleeps or has its clock set', {
  timeout: 120_000,
}, async () => {
  let grants = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 2, max: 3 }),
      fc.array(step, { minLength: 150, maxLength: 300, size: 'max' }),
      async (allowed, members, steps) => {
        const history = new History(allowed, members);
        for (const one of steps) await history.play(one);
        grants += history.grants;
      },
    ),
    { numRuns: HISTORIES },
  );
  // A history in which nothing is granted shows nothing.
  if (grants < HISTORIES) throw new Error(`only ${grants} grants in ${HISTORIES} histories`);
});
