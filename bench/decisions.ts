/** One decision about an eviction, and keeping the counts it is made on, at Kubernetes' supported size. */
import type { Pod } from '../src/api/generated/core-v1.ts';
import {
  decideEviction,
  DisruptionIndex,
  judgeEviction,
  readBudget,
  readPod,
  readWorkload,
} from '../src/decisions/disruption/index.ts';
import { readPolicy } from '../src/decisions/policies/index.ts';
import { median, report } from './report.ts';

const PODS = 152_000;
const BUDGETS = 1_000;
const UNIT = 8;
const NOW = Date.parse('2026-06-01T12:00:00Z');
const MICRO = 1_000;

function makePod(at: number, ready: boolean): Pod {
  const set = at % BUDGETS;
  const unit = Math.floor(at / BUDGETS / UNIT);
  return {
    metadata: {
      name: `p-${at}`,
      namespace: 'bench',
      uid: `u-${at}`,
      labels: { set: `s-${set}`, tier: 'x', team: 'y' },
    },
    spec: {
      containers: [],
      nodeName: `n-${at % 5000}`,
      workloadRef: { name: `w-${set}`, podGroup: 'g', podGroupReplicaKey: String(unit) },
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

export function benchDecisions(): void {
  const index = new DisruptionIndex();
  const podGroups = [{ name: 'g', replicas: Math.ceil(PODS / BUDGETS / UNIT), policy: { gang: { minCount: UNIT } } }];
  for (let set = 0; set < BUDGETS; set += 1) {
    const workload = { metadata: { name: `w-${set}`, namespace: 'bench' }, spec: { podGroups } };
    index.setWorkload('bench', `w-${set}`, readWorkload(workload));
    index.setBudget(
      readBudget({
        metadata: { name: `b-${set}`, namespace: 'bench', uid: `b-${set}`, generation: 1 },
        spec: { maxUnavailable: 1, selector: { matchLabels: { set: `s-${set}` } } },
        status: {
          observedGeneration: 1,
          disruptionsAllowed: 1,
          conditions: [
            { type: 'PodGroupBudget', status: 'True', reason: 'GroupUnits', message: '', lastTransitionTime: '' },
          ],
        },
      }),
    );
  }
  const started = performance.now();
  for (let at = 0; at < PODS; at += 1) index.setPod(readPod(makePod(at, true)));
  report(
    `disruption: index ${PODS} pods, ${BUDGETS} budgets`,
    `${((performance.now() - started) / 1000).toFixed(2)} s`,
  );

  const decide = (at: number): void => {
    const question = index.ask('bench', `p-${at}`, NOW);
    if (question === undefined || !decideEviction(question).allowed) throw new Error('the eviction should be granted');
  };
  report(
    'disruption: one decision',
    ...under(
      20,
      measure((at) => decide(at)),
    ),
  );
  report(
    'disruption: a readiness change',
    ...under(
      20,
      measure((at) => flip(index, at)),
    ),
  );
  limit(index);
  const judgement = { isCordoned: () => false };
  const judge = (at: number): void => {
    const verdict = judgeEviction(index, { namespace: 'bench', name: `p-${at}` }, NOW, judgement);
    if (verdict?.allowed !== true || verdict.limits === undefined) throw new Error('it should be granted and counted');
  };
  report(
    `disruption: one decision with ${BUDGETS} policies`,
    ...under(
      30,
      measure((at) => judge(at)),
    ),
  );
}

/** A policy beside every budget, with every limit and a disruption in its ledger. */
function limit(index: DisruptionIndex): void {
  const limits = {
    maxDisruptions: [{ count: 2, per: '1h' }],
    minInterval: '1h',
    settle: { afterRecovery: '30m', afterStart: '10m' },
    windows: [{ start: '02:00', duration: '20h', timeZone: 'Europe/Berlin' }],
    maxDisruptionSecondsPerDay: 300,
  };
  const ledger = [
    {
      group: 'PodGroup/another',
      disruptions: [{ at: '2026-06-01T11:30:00.000000Z', way: 'Eviction', state: 'Gone' as const }],
    },
  ];
  for (let set = 0; set < BUDGETS; set += 1) {
    const metadata = { name: `d-${set}`, namespace: 'bench', uid: `d-${set}`, generation: 1 };
    const selector = { matchLabels: { set: `s-${set}` } };
    index.setPolicy(readPolicy({ metadata, spec: { selector, limits }, status: { ledger } }));
  }
}

function flip(index: DisruptionIndex, at: number): void {
  index.setPod(readPod(makePod(at, false)));
  index.setPod(readPod(makePod(at, true)));
}

/** Microseconds of one call: the median over rounds of many calls on pods far apart. */
function measure(call: (at: number) => void): number {
  const rounds: number[] = [];
  for (let round = 0; round < 60; round += 1) {
    const started = performance.now();
    for (let at = 0; at < MICRO; at += 1) call((at * 7919 + round) % PODS);
    rounds.push(((performance.now() - started) * 1000) / MICRO);
  }
  return median(rounds.slice(10));
}

function under(limit: number, micros: number): [string, { target: string; met: boolean }] {
  return [`${micros.toFixed(1)} µs`, { target: `under ${limit} µs`, met: micros < limit }];
}
