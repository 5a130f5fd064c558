/** Published numbers against a search over every order of evictions, and against the API server's own check. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DisruptionLedgerStatus, LedgerGrant } from '../../api/quorate/types.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { readBudget } from './budget-facts.ts';
import { DisruptionIndex } from './disruption-index.ts';
import { budgetObject, groupUnits, member, NOW, pod } from './fixtures.ts';
import { readWorkload } from './group-facts.ts';
import { judgeEviction } from './judge.ts';
import type { Publication } from './publication.ts';

const STATES = Number(process.env['QUORATE_STATES'] ?? 300);

const drawnPod = fc.record({
  group: fc.constantFrom('g', 'g', 'g', 'h', undefined),
  unit: fc.nat(2),
  selected: fc.constantFrom(true, true, true, false),
  is: fc.constantFrom('ready', 'ready', 'ready', 'unready', 'pending', 'going'),
  granted: fc.constantFrom(false, false, false, true),
  /** The API server has counted what was granted. */
  counted: fc.boolean(),
});

const drawn = fc.record({
  pods: fc.array(drawnPod, { minLength: 1, maxLength: 8 }),
  minimums: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 })),
  replicas: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 })),
  spec: fc.oneof(
    fc.record({ minAvailable: fc.constantFrom(0, 1, 2, 3, '50%', '100%') }),
    fc.record({ maxUnavailable: fc.constantFrom(0, 1, 2, '34%', '100%') }),
  ),
  alwaysAllow: fc.boolean(),
});

type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

class Scene {
  readonly index = new DisruptionIndex();
  readonly ready: string[] = [];
  readonly #drawn: Drawn;
  readonly #first: readonly LedgerGrant[];

  constructor(state: Drawn) {
    this.#drawn = state;
    const [g, h] = state.minimums;
    const podGroups = [
      { name: 'g', replicas: state.replicas[0], policy: { gang: { minCount: g } } },
      { name: 'h', replicas: state.replicas[1], policy: { gang: { minCount: h } } },
    ];
    this.index.setWorkload('default', 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
    for (const [at, { group, is, selected, unit }] of state.pods.entries()) {
      const options = {
        labels: { app: selected ? 'a' : 'b' },
        ready: is === 'ready' || is === 'going',
        phase: is === 'pending' ? 'Pending' : 'Running',
        terminating: is === 'going',
      };
      const name = `p${at}`;
      this.index.setPod(
        group === undefined ? pod(name, options) : member(name, { podGroup: group, key: String(unit) }, options),
      );
      if (is === 'ready' && selected) this.ready.push(name);
    }
    this.#first = state.pods.flatMap(({ granted, selected }, at) => (granted && selected ? [grantOf(`p${at}`)] : []));
    this.with([]);
  }

  /** Puts these grants on top of those that were drawn. */
  with(more: readonly string[]): void {
    const { alwaysAllow, spec } = this.#drawn;
    const status: DisruptionLedgerStatus = {
      observedGeneration: 1,
      conditions: [groupUnits] as never,
      grants: [...this.#first, ...more.map(grantOf)],
    };
    const policy = alwaysAllow ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {};
    this.index.setBudget(readBudget({ ...budgetObject({ spec: { ...spec, ...policy } as never }), status }));
  }

  get countsGroups(): boolean {
    return this.index.count('default', 'foo', NOW)?.mode.unit === 'PodGroup';
  }

  publish(): Publication {
    const counted = this.#drawn.pods.flatMap((one, at) =>
      one.granted && one.counted && one.selected ? [[`p${at}`, formatTime(NOW)]] : [],
    );
    const numbers = this.index.publication('default', 'foo', NOW, Object.fromEntries(counted));
    if (numbers === undefined) throw new Error('it counts pods');
    return numbers;
  }

  isGranted(name: string): boolean {
    return this.#first.some((grant) => grant.name === name);
  }

  isCounted(name: string): boolean {
    const one = this.#drawn.pods[Number(name.slice(1))];
    return one?.granted === true && one.counted;
  }

  may(name: string): boolean {
    const judged = judgeEviction(this.index, { namespace: 'default', name }, NOW, { isCordoned: () => false });
    return judged?.allowed === true;
  }

  /** The most pods that can go one after another, by trying every choice. */
  most(): number {
    const seen = new Map<string, number>();
    const candidates = this.ready.filter((name) => !this.isGranted(name));
    const search = (taken: readonly string[]): number => {
      const key = [...taken].sort().join();
      const known = seen.get(key);
      if (known !== undefined) return known;
      let best = 0;
      for (const name of candidates) {
        if (taken.includes(name)) continue;
        this.with(taken);
        if (this.may(name)) best = Math.max(best, 1 + search([...taken, name]));
      }
      seen.set(key, best);
      return best;
    };
    const best = search([]);
    this.with([]);
    return best;
  }
}

function grantOf(name: string): LedgerGrant {
  return { name, uid: `uid-${name}`, at: new Date(NOW).toISOString(), cost: 0, kind: 'Free', pinned: 'uid', by: 'r' };
}

function overGroups(check: (scene: Scene, state: Drawn) => void): void {
  fc.assert(
    fc.property(drawn, (state) => {
      const scene = new Scene(state);
      fc.pre(scene.countsGroups);
      check(scene, state);
    }),
    { numRuns: STATES },
  );
}

test('PB-22: as many pods as the best order of evictions takes', () => {
  overGroups((scene) => expect(scene.publish().spare).toBe(scene.most()));
});

test('PB-23: whatever is granted passes the check of the API server', () => {
  overGroups((scene, { alwaysAllow, pods }) => {
    for (const [at, { is, selected }] of pods.entries()) {
      const name = `p${at}`;
      if (!selected || is === 'pending' || is === 'going' || scene.isCounted(name)) continue;
      scene.with([]);
      if (!scene.isGranted(name) && !scene.may(name)) continue;
      // Room is made with the grant listed already.
      scene.with(scene.isGranted(name) ? [] : [name]);
      const { currentHealthy, desiredHealthy, disruptionsAllowed } = scene.publish();
      const passesUnready =
        is === 'unready' && (alwaysAllow || (currentHealthy >= desiredHealthy && desiredHealthy > 0));
      // A grant of a pod that has become unready since, below its budget: the API server is right to say no.
      if (is === 'unready' && scene.isGranted(name) && currentHealthy < desiredHealthy) continue;
      expect(passesUnready || disruptionsAllowed > 0, name).toBe(true);
    }
  });
});

test('PB-24: zero where no Ready pod may go and nothing is under way, and only there', () => {
  overGroups((scene) => {
    const { desiredHealthy, disruptionsAllowed, spare } = scene.publish();
    const mayGo = scene.ready.some((name) => !scene.isGranted(name) && scene.may(name));
    const isUnderWay = scene.ready.some((name) => scene.isGranted(name) && !scene.isCounted(name));
    expect(spare > 0).toBe(mayGo);
    if (mayGo || isUnderWay) expect(disruptionsAllowed).toBeGreaterThan(0);
    // With nothing desired the API server counts unready pods too.
    else if (desiredHealthy > 0) expect(disruptionsAllowed).toBe(0);
  });
});

test('numbers are never negative and never exceed what is there', () => {
  overGroups((scene) => {
    const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = scene.publish();
    for (const number of [currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods]) {
      expect(number).toBeGreaterThanOrEqual(0);
    }
    expect(expectedPods).toBeGreaterThanOrEqual(disruptionsAllowed);
  });
});
