/**
 * Whole histories of one budget under several replicas: evictions asked of any of them about whatever there is, requests,
 * answers and watches that arrive late, evictions that the API server carries out long after they were let pass, pods
 * that start meanwhile and successors of the same name, readiness that comes and goes, a controller that moves from one
 * replica to another, ledgers that are deleted, budgets that are tightened, replicas that die with what they were about
 * to write, machines that sleep or whose clocks are set. Whatever the order, no more groups are down by evictions than
 * the budget allows.
 */
import fc from 'fast-check';
import { test } from 'vitest';
import { settle } from '../machinery/runtime/index.ts';
import { GROUPS, type Member, showNext, World } from './ledger-history.fixture.ts';

const HISTORIES = Number(process.env['QUORATE_HISTORIES'] ?? 200);

const choice = fc.nat(1000);
const longMs = fc.constantFrom(16_000, 76_000);
const byMs = fc.constantFrom(-3_600_000, -14_000, 76_000, 3_600_000);
const of = <K extends string>(kind: K) => fc.record({ kind: fc.constant(kind), choice });
const step = fc.oneof(
  { weight: 22, arbitrary: fc.record({ kind: fc.constant('ask' as const), choice, other: choice }) },
  { weight: 14, arbitrary: fc.record({ kind: fc.constant('askExempt' as const), choice, other: choice }) },
  { weight: 50, arbitrary: of('deliver') },
  { weight: 15, arbitrary: of('showLedger') },
  { weight: 25, arbitrary: of('showPod') },
  { weight: 12, arbitrary: of('carryOut') },
  { weight: 10, arbitrary: of('vanish') },
  { weight: 10, arbitrary: of('replace') },
  { weight: 14, arbitrary: of('becomeReady') },
  { weight: 3, arbitrary: of('becomeUnready') },
  { weight: 10, arbitrary: of('count') },
  { weight: 2, arbitrary: of('lead') },
  { weight: 2, arbitrary: of('die') },
  { weight: 1, arbitrary: of('loseLedger') },
  { weight: 1, arbitrary: of('change') },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('set' as const), choice, byMs }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sleep' as const), choice, ms: longMs }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(20, 500, 2100) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: longMs }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

class History {
  readonly world: World;
  #leader = 0;

  constructor(allowed: number, members: number, changes: 'read' | 'barrier') {
    this.world = new World(allowed, members, changes);
  }

  async play(one: Step): Promise<void> {
    const { world } = this;
    const member = (at: number): Member => world.members[at % world.members.length] as Member;
    const slot = (at: number) => world.slots[at % world.slots.length] as World['slots'][number];
    switch (one.kind) {
      case 'ask': {
        const { name } = slot(one.other).pod?.metadata ?? {};
        if (name !== undefined) world.ask(member(one.choice), name);
        break;
      }
      case 'askExempt': {
        // Pods that no budget protects, which may be another thing by the time that the eviction is carried out.
        const exempt = world.slots.filter(
          ({ pod }) => pod?.status?.phase === 'Pending' || pod?.metadata.deletionTimestamp,
        );
        const { name } = exempt[one.other % Math.max(1, exempt.length)]?.pod?.metadata ?? {};
        if (name !== undefined) world.ask(member(one.choice), name);
        break;
      }
      case 'deliver': {
        const { onTheWay = [] } = world.cluster;
        // What a dead replica had sent may still arrive; it gets no answer.
        for (let left = one.choice % 4; left >= 0; left -= 1) {
          onTheWay.splice(one.choice % Math.max(1, onTheWay.length), 1)[0]?.deliver();
          await settle(3);
        }
        break;
      }
      case 'showLedger':
        for (let left = one.choice % 3; left >= 0; left -= 1) member(one.choice).replica.show();
        break;
      case 'showPod':
        for (let left = one.choice % 5; left >= 0; left -= 1) showNext(member(one.choice));
        break;
      case 'carryOut': {
        const [granted] = world.granted.splice(one.choice % Math.max(1, world.granted.length), 1);
        if (granted !== undefined) world.carryOut(granted);
        break;
      }
      case 'vanish':
        world.vanish(slot(one.choice));
        break;
      case 'replace':
        world.replace(slot(one.choice));
        break;
      case 'becomeReady':
        world.setReady(slot(one.choice), true);
        break;
      case 'becomeUnready':
        world.setReady(slot(one.choice), false);
        break;
      case 'count':
        world.count(member(this.#leader));
        break;
      case 'lead':
        this.#leader = one.choice;
        break;
      case 'die': {
        const dying = member(one.choice);
        dying.dead = true;
        world.members = world.members.filter((other) => other !== dying);
        world.start();
        break;
      }
      case 'loseLedger':
        world.cluster.delete();
        break;
      case 'change':
        world.allow(1 + (one.choice % (GROUPS - 2)));
        break;
      case 'set':
        member(one.choice).replica.clock.setByMs += one.byMs;
        break;
      case 'sleep':
        // The rest of the world goes on meanwhile; its clock is right when it wakes.
        await this.#wait(one.ms);
        member(one.choice).replica.clock.sleptMs += one.ms;
        break;
      case 'wait':
        await this.#wait(one.ms);
        break;
    }
    await settle(3);
  }

  /** Time passes in which nothing else arrives; what was granted is carried out while its request lasts, or never. */
  async #wait(ms: number): Promise<void> {
    const { clock, granted } = this.world;
    const end = clock.now() + ms;
    for (const one of granted.splice(0)) {
      if (one.askedMs + 60_000 >= end) granted.push(one);
      else this.world.carryOut(one);
    }
    await clock.advance(ms);
  }
}

test('18.1, 18.3, 18.4: never more groups down than allowed, whatever arrives late, goes missing or changes', {
  timeout: 60_000 + HISTORIES * 1000,
}, async () => {
  let grants = 0;
  let carriedOut = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 2, max: 3 }),
      fc.constantFrom('read' as const, 'barrier' as const),
      fc.array(step, { minLength: 150, maxLength: 400, size: 'max' }),
      async (allowed, members, changes, steps) => {
        const history = new History(allowed, members, changes);
        for (const one of steps) await history.play(one);
        grants += history.world.grants;
        carriedOut += history.world.carriedOut;
      },
    ),
    { numRuns: HISTORIES, endOnFailure: true },
  );
  // Histories in which nothing is granted show nothing.
  if (carriedOut < HISTORIES) throw new Error(`only ${carriedOut} of ${grants} grants were carried out`);
});
