/** Limits are asked of counts that every event keeps up to date; counted anew, the answers must be the same. */
import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { DisruptionPolicy } from '../../api/quorate/disruption-policy.ts';
import { formatMicroTime, formatTime } from '../../machinery/values/index.ts';
import { readPolicy } from '../policies/index.ts';
import { DisruptionIndex } from './disruption-index.ts';
import { readPodGroup } from './group-facts.ts';
import { judgeLimits } from './judge.ts';
import { readPod } from './pod-facts.ts';

const given = process.env['QUORATE_SEED'];
const SEED = given === 'random' ? Date.now() % 1_000_000 : Number(given ?? 20);
const NOW = Date.parse('2026-06-01T12:00:00Z');
const MINUTE = 60_000;
const [GANGS, SIZE, POLICIES] = [12, 3, 6];

function drawer(seed: number): (below: number) => number {
  let state = (seed % 2_147_483_646) + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function drawPod(at: number, draw: (below: number) => number): Pod {
  const gang = Math.floor(at / SIZE);
  const labels = { team: `t${gang % 3}`, ...(draw(4) > 0 && { app: `a${gang % 2}` }) };
  const since = formatTime(NOW - draw(40) * MINUTE);
  const status = draw(12) === 0 ? 'False' : 'True';
  return {
    metadata: { name: `p${at}`, namespace: 'ml', uid: `u${at}-${draw(3)}`, labels },
    spec: { containers: [], nodeName: 'n', ...(gang > 1 && { schedulingGroup: { podGroupName: `g${gang}` } }) },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status, lastTransitionTime: since }] },
  } as Pod;
}

function drawPolicy(at: number, generation: number, draw: (below: number) => number): DisruptionPolicy {
  const chosen = draw(5);
  const limits = [
    { maxDisruptions: [{ count: draw(3), per: '30m' }] },
    { minInterval: '20m' },
    { settle: { afterRecovery: '15m', afterStart: '10m' } },
    { maxDisruptionSecondsPerDay: 120 },
    { windows: [{ start: '11:30', duration: '1h' }] },
  ][chosen];
  const selectors = [{ matchLabels: { team: `t${draw(3)}` } }, { matchLabels: { app: `a${draw(2)}` } }, {}];
  const ledger = [2, 3, 4, 5].map((gang) => {
    const at = NOW - draw(60) * MINUTE;
    const back = at + draw(300) * 1000;
    return {
      group: `PodGroup/g${gang}`,
      firstWholeAt: formatTime(NOW - 100 * MINUTE),
      wholeAt: formatTime(back),
      disruptions: [{ at: formatMicroTime(at), way: 'Eviction', state: 'Gone' as const }],
      down: [{ from: formatTime(at), to: formatTime(back), voluntary: true }],
    };
  });
  const metadata = { name: `d${at}`, namespace: 'ml', uid: `d${at}`, generation };
  const target = { apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', name: `g${2 + draw(GANGS - 2)}` };
  const selects = draw(3) === 0 ? { targetRef: target } : { selector: selectors[draw(3)] };
  return { metadata, spec: { ...selects, limits }, status: { ledger } } as DisruptionPolicy;
}

test(`DP-20: after any changes limits decide as if all were counted anew (seed ${SEED})`, () => {
  const draw = drawer(SEED);
  const [pods, policies] = [new Map<number, Pod>(), new Map<number, DisruptionPolicy>()];
  const grouped = (index: DisruptionIndex): DisruptionIndex => {
    const spec = { schedulingPolicy: { gang: { minCount: SIZE } } };
    for (let gang = 2; gang < GANGS; gang += 1)
      index.setPodGroup('ml', `g${gang}`, readPodGroup({ metadata: { name: `g${gang}` }, spec } as never));
    return index;
  };
  const kept = grouped(new DisruptionIndex());
  const reasons = new Set<string>();
  for (let at = 0; at < GANGS * SIZE; at += 1) {
    const pod = drawPod(at, draw);
    pods.set(at, pod);
    kept.setPod(readPod(pod));
  }
  for (let round = 0; round < 250; round += 1) {
    const at = draw(GANGS * SIZE);
    const which = draw(POLICIES);
    const change = draw(12);
    if (change === 0) {
      pods.delete(at);
      kept.deletePod('ml', `p${at}`);
    } else if (change === 1) {
      policies.delete(which);
      kept.deletePolicy('ml', `d${which}`);
    } else if (change < 5) {
      const policy = drawPolicy(which, round + 1, draw);
      policies.set(which, policy);
      kept.setPolicy(readPolicy(policy, kept.policy('ml', `d${which}`)));
    } else {
      const pod = drawPod(at, draw);
      pods.set(at, pod);
      kept.setPod(readPod(pod));
    }
    const anew = grouped(new DisruptionIndex());
    for (const policy of policies.values()) anew.setPolicy(readPolicy(policy));
    for (const pod of pods.values()) anew.setPod(readPod(pod));
    for (let asked = 0; asked < 3; asked += 1) {
      const name = `p${draw(GANGS * SIZE)}`;
      const [one, other] = [kept, anew].map((index) => judgeLimits(index, { namespace: 'ml', name }, NOW, () => 0));
      expect(one, `round ${round}, ${name}`).toEqual(other);
      reasons.add(one?.reason ?? '');
    }
  }
  // Otherwise this has shown nothing.
  expect(reasons.size).toBeGreaterThan(3);
});
