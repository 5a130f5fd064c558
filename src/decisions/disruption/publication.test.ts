import { describe, expect, it } from 'vitest';
import type { DisruptionLedgerStatus } from '../../api/quorate/types.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { readBudget } from './budget-facts.ts';
import { DisruptionIndex } from './disruption-index.ts';
import { budgetObject, groupUnits, member, NOW, pod, type PodOptions } from './fixtures.ts';
import { readWorkload } from './group-facts.ts';
import { computePublication } from './publication.ts';

interface Groups {
  readonly name?: string;
  readonly count: number;
  readonly size: number;
  readonly min: number;
  /** Declared, where that is not as many as there are. */
  readonly replicas?: number;
}

interface Setting {
  readonly groups: readonly Groups[];
  readonly spec: Record<string, unknown>;
  /** By pod name such as `g0p1`. */
  readonly pods?: Record<string, PodOptions> | ((name: string) => PodOptions);
  readonly more?: readonly string[];
  readonly granted?: readonly string[];
  readonly disrupted?: Record<string, number>;
}

const settings = (minAvailable: number | string) => ({ minAvailable });
const most = (maxUnavailable: number | string) => ({ maxUnavailable });
const ROW2: Setting = { groups: [{ count: 3, size: 4, min: 4 }], spec: most(1) };
const ROW7: Setting = {
  groups: [
    { name: 'big', count: 1, size: 8, min: 8 },
    { name: 'small', count: 1, size: 4, min: 4 },
  ],
  spec: most(1),
};
const BROKEN = (name: string): PodOptions => (name.endsWith('p0') ? { ready: false } : {});
const ROW11: Setting = { groups: [{ count: 10, size: 8, min: 8 }], spec: settings(9), pods: BROKEN };
const ROW13: Setting = { groups: [{ count: 8, size: 8, min: 8, replicas: 10 }], spec: settings('80%') };

function publish({ disrupted = {}, granted = [], groups, more = [], pods = {}, spec }: Setting) {
  const index = new DisruptionIndex();
  const optionsOf = typeof pods === 'function' ? pods : (name: string): PodOptions => pods[name] ?? {};
  const podGroups = groups.map(({ count, min, name = 'g', replicas = count }) => ({
    name,
    replicas,
    policy: { gang: { minCount: min } },
  }));
  index.setWorkload('default', 'w', readWorkload({ metadata: { name: 'w' }, spec: { podGroups } } as never));
  for (const { count, name = 'g', size } of groups) {
    for (let unit = 0; unit < count; unit += 1) {
      for (let at = 0; at < size; at += 1) {
        const podName = `${name}${unit}p${at}`;
        index.setPod(member(podName, { podGroup: name, key: String(unit) }, optionsOf(podName)));
      }
    }
  }
  for (const name of more) index.setPod(pod(name, optionsOf(name)));
  const at = new Date(NOW).toISOString();
  const status: DisruptionLedgerStatus = {
    observedGeneration: 1,
    conditions: [groupUnits] as never,
    grants: granted.map((name) => ({ name, uid: `uid-${name}`, at, cost: 1, kind: 'Charged', pinned: 'uid', by: 'r' })),
  };
  index.setBudget(readBudget({ ...budgetObject({ spec }), status }));
  const disruptedPods = Object.fromEntries(Object.entries(disrupted).map(([name, when]) => [name, formatTime(when)]));
  const numbers = index.publication('default', 'foo', NOW, disruptedPods);
  if (numbers === undefined) throw new Error('it counts pods');
  return numbers;
}

const ROWS: readonly [number, Setting, number, number, number, number][] = [
  [1, { ...ROW2, spec: settings(2) }, 4, 12, 8, 12],
  [2, ROW2, 4, 12, 8, 12],
  [3, { ...ROW2, spec: most('50%') }, 8, 12, 4, 12],
  [4, { ...ROW2, spec: settings('67%') }, 0, 12, 12, 12],
  [5, { ...ROW2, pods: { g0p0: { ready: false } } }, 3, 11, 8, 12],
  [6, { groups: [{ count: 3, size: 10, min: 8 }], spec: most(0) }, 6, 30, 24, 30],
  [7, ROW7, 8, 12, 4, 12],
  [8, { ...ROW7, granted: ['small0p0'] }, 4, 12, 8, 12],
  [9, { ...ROW2, granted: ['g0p0'] }, 4, 12, 8, 12],
  [10, { ...ROW2, granted: ['g0p0'], disrupted: { g0p0: NOW } }, 3, 11, 8, 12],
  [11, ROW11, 0, 70, 79, 80],
  [12, { ...ROW11, spec: { minAvailable: 9, unhealthyPodEvictionPolicy: 'AlwaysAllow' } }, 70, 70, 79, 80],
  [13, ROW13, 0, 64, 64, 64],
  [14, { ...ROW13, spec: most('25%') }, 8, 64, 56, 64],
  [
    15,
    {
      groups: [
        { name: 'leader', count: 2, size: 1, min: 1 },
        { name: 'worker', count: 2, size: 4, min: 4 },
      ],
      spec: most(1),
    },
    4,
    10,
    6,
    10,
  ],
  [16, { groups: [{ count: 2, size: 2, min: 2 }], spec: most(0), more: ['a', 'b', 'c'] }, 3, 7, 4, 7],
  [
    17,
    {
      groups: [{ count: 3, size: 8, min: 8 }],
      spec: { minAvailable: 2, selector: { matchLabels: { role: 'leader' } } },
      pods: (name) => (name.endsWith('p0') ? { labels: { role: 'leader' } } : {}),
    },
    1,
    3,
    2,
    3,
  ],
  [18, { groups: [{ count: 2, size: 3, min: 3 }], spec: settings(0) }, 6, 6, 0, 6],
  [19, { groups: [{ count: 2, size: 3, min: 3 }], spec: settings(0), pods: () => ({ ready: false }) }, 6, 0, 0, 6],
  [21, { ...ROW2, spec: settings(3), granted: ['g0p0'] }, 1, 12, 13, 13],
];

describe('published numbers of a budget over groups', () => {
  it.each(ROWS)('PB-%s', (_, setting, allowed, healthy, desired, expected) => {
    const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = publish(setting);
    expect([disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods]).toEqual([
      allowed,
      healthy,
      desired,
      expected,
    ]);
  });

  it('PB-20: of groups that go whole nobody goes alone', () => {
    const unit = { healthy: 5, minCount: 4, takeable: 5 };
    const state = {
      expected: 3,
      available: 3,
      desired: 3,
      mayGoDown: 0,
      alwaysAllow: false,
      individual: 0,
      ready: 15,
      outstanding: 0,
      unready: 0,
      pods: 15,
      shortages: () => [],
    };
    const numbers = (whole: boolean) => {
      const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = computePublication({
        ...state,
        units: [unit, unit, unit].map((one) => ({ ...one, whole })),
      });
      return [disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods];
    };
    expect(numbers(true)).toEqual([0, 15, 15, 15]);
    expect(numbers(false)).toEqual([3, 15, 12, 15]);
  });

  it('PB-30: what the API server noted about a pod of the same name before counts no more', () => {
    const young = { ...ROW2, disrupted: { g0p0: NOW - 10_000 } };
    expect(publish(young)).toMatchObject({ disruptionsAllowed: 3, currentHealthy: 11 });
    const successor = { ...young, pods: { g0p0: { createdAt: NOW - 5000 } } };
    expect(publish(successor)).toMatchObject({ disruptionsAllowed: 4, currentHealthy: 12 });
    expect(publish({ ...ROW2, disrupted: { g0p0: NOW - 120_000 } })).toMatchObject({ disruptionsAllowed: 4 });
  });

  it('says what the numbers are', () => {
    expect(publish(ROW2).message).toBe(
      '3 of 3 groups are available, 2 must stay; up to 4 pods can go now if chosen best',
    );
  });

  it('stays within 32 bits whatever is declared', () => {
    const huge: Setting = { groups: [{ count: 1, size: 4, min: 4, replicas: 2 ** 31 - 1 }], spec: settings('100%') };
    expect(publish(huge)).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 4, desiredHealthy: 2 ** 31 - 1 });
  });
});
