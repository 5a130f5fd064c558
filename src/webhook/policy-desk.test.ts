/** Replicas that decide at once, each by its own copies, over one API server. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Pod } from '../api/generated/core-v1.ts';
import {
  type DisruptionLimits,
  type DisruptionPolicy,
  disruptionPolicyType,
} from '../api/quorate/disruption-policy.ts';
import { podType } from '../api/resource-types.ts';
import { DisruptionIndex, readPod } from '../decisions/disruption/index.ts';
import { readPolicy } from '../decisions/policies/index.ts';
import { type ControlPlane, startControlPlane } from '../testkit/index.ts';
import { chargeLimits, type Limited, type PolicyDesk } from './policy-desk.ts';

const namespace = 'default';
let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane();
});
afterEach(() => plane.stop());

async function runPods(count: number): Promise<Pod[]> {
  const pods: Pod[] = [];
  for (let at = 0; at < count; at += 1) {
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
    const made = await plane.client.create(podType, { metadata: { name: `p${at}`, namespace }, spec });
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }];
    const status = { phase: 'Running', conditions };
    pods.push(await plane.client.updateStatus(podType, { ...made, status } as Pod));
  }
  return pods;
}

const limit = (limits: DisruptionLimits, name = 'nightly'): Promise<DisruptionPolicy> =>
  plane.client.create(disruptionPolicyType, {
    metadata: { name, namespace },
    spec: { selector: {}, limits },
  });

/** A replica whose copies are those of its start. */
function replica(pods: readonly Pod[], policies: DisruptionPolicy | readonly DisruptionPolicy[]): PolicyDesk {
  const index = new DisruptionIndex();
  for (const policy of [policies].flat()) index.setPolicy(readPolicy(policy as DisruptionPolicy));
  for (const pod of pods) index.setPod(readPod(pod));
  return {
    index,
    client: plane.client,
    clock: plane.clock,
    podsResourceVersion: () => pods.at(-1)?.metadata.resourceVersion ?? '',
    podsIn: () => pods,
  };
}

/** Retries wait on the clock, which somebody has to move. */
async function settle<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await plane.clock.advance(10);
    await plane.settle();
  }
  return work;
}

const ask = (desk: PolicyDesk, name: string, dryRun = false): Promise<Limited> =>
  chargeLimits(
    desk,
    { pod: { namespace, name }, by: 'admin', dryRun, isCordoned: () => false },
    new AbortController().signal,
  );
const isGranted = (limited: Limited): boolean => !('response' in limited);

test('DP-14: 50 evictions of 50 groups at once at 3 replicas, one an hour: exactly 1 is granted', async () => {
  const pods = await runPods(50);
  const policy = await limit({ maxDisruptions: [{ count: 1, per: '1h' }] });
  const replicas = [0, 1, 2].map(() => replica(pods, policy));
  const asked = pods.map(({ metadata }, at) => ask(replicas[at % 3] as PolicyDesk, metadata.name ?? ''));
  const answers = await settle(Promise.all(asked));
  expect(answers.filter(isGranted)).toHaveLength(1);
  const refused = answers.flatMap((one) => ('response' in one ? [one.response.status] : []));
  expect(new Set(refused.map((status) => status?.code))).toEqual(new Set([429]));
  const { status } = await plane.client.get(disruptionPolicyType, { namespace, name: 'nightly' });
  expect(status?.ledger?.flatMap(({ disruptions = [] }) => disruptions)).toHaveLength(1);
});

test('DP-15: after a restart only the ledger speaks; what was taken back counts no more', async () => {
  const pods = await runPods(3);
  const policy = await limit({ maxDisruptions: [{ count: 1, per: '1h' }] });
  const first = await settle(ask(replica(pods, policy), 'p0'));
  expect(isGranted(first)).toBe(true);
  expect(isGranted(await settle(ask(replica(pods, policy), 'p1')))).toBe(false);
  if ('undo' in first) await settle(first.undo());
  expect(isGranted(await settle(ask(replica(pods, policy), 'p1', true)))).toBe(true);
  expect(isGranted(await settle(ask(replica(pods, policy), 'p1')))).toBe(true);
  expect(isGranted(await settle(ask(replica(pods, policy), 'p2')))).toBe(false);
});

test('DP-11: where one of two policies refuses, it is named and the other has nothing entered', async () => {
  const pods = await runPods(2);
  const policies = [
    await limit({ maxDisruptions: [{ count: 1, per: '1h' }] }),
    await limit({ maxDisruptions: [{ count: 5, per: '1h' }] }, 'roomy'),
  ];
  expect(isGranted(await settle(ask(replica(pods, policies), 'p0')))).toBe(true);
  const refused = await settle(ask(replica(pods, policies), 'p1'));
  const { message } = 'response' in refused ? (refused.response.status ?? {}) : {};
  expect(message).toContain('DisruptionPolicy default/nightly does not allow default/Pod/p1');
  expect(message).not.toContain('roomy');
  const { status } = await plane.client.get(disruptionPolicyType, { namespace, name: 'roomy' });
  expect(status?.ledger?.map(({ group }) => group)).toEqual(['Pod/p0']);
});

test.each([31_000, -31_000])('DP-17: a replica whose clock is %i ms off refuses, others decide', async (skewMs) => {
  const pods = await runPods(1);
  const policy = await limit({ maxDisruptions: [{ count: 1, per: '1h' }] });
  const refused = await settle(ask({ ...replica(pods, policy), skewMs: () => skewMs }, 'p0'));
  const { code, details, message } = 'response' in refused ? (refused.response.status ?? {}) : {};
  expect(code).toBe(429);
  expect(details?.causes?.[0]?.reason).toBe('ClockSkewed');
  expect(message).toContain(`31 s ${skewMs > 0 ? 'ahead of' : 'behind'} the API server's`);
  expect(isGranted(await settle(ask({ ...replica(pods, policy), skewMs: () => 30_000 }, 'p0')))).toBe(true);
});

test('DP-17: a replica whose clock is off decides where no policy has limits', async () => {
  const pods = await runPods(1);
  const policy = await plane.client.create(disruptionPolicyType, {
    metadata: { name: 'telling', namespace },
    spec: { selector: {}, notice: { duration: '1m' } },
  });
  expect(isGranted(await settle(ask({ ...replica(pods, policy), skewMs: () => 31_000 }, 'p0')))).toBe(true);
});
