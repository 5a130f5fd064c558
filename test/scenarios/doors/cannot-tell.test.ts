/** What a tool may not read makes its answer "cannot tell", never "yes". */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { KubeObject } from '../../../src/api/resource.ts';
import { nodeType, podType } from '../../../src/api/resource-types.ts';
import {
  CannotTellError,
  drainNodes,
  explainEverything,
  explainTarget,
  gatherClusterObjects,
  planClusterDrain,
  simulate,
  takeSnapshot,
} from '../../../src/tasks/index.ts';
import type { Client } from '../../../src/machinery/runtime/index.ts';
import { startControlPlane, type ServedControlPlane } from '../../../src/testkit/index.ts';

const RULES = { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true, skipWaitForDeleteTimeoutSeconds: 0 };
const namespace = 'default';
const now = 0;
let plane: ServedControlPlane;
let viewer: Client;
let drainer: Client;

beforeAll(async () => {
  plane = await startControlPlane({ port: 0 });
  const { client } = plane;
  await client.create(nodeType, { metadata: { name: 'node-1' } });
  await client.create(podType, {
    metadata: { name: 'llm-0', namespace, labels: { app: 'llm' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  });
  await client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name: 'llm', namespace },
    spec: { selector: { matchLabels: { app: 'llm' } }, maxUnavailable: 0 },
  });
  await client.create(builtinType('ClusterRole', 'rbac.authorization.k8s.io'), {
    metadata: { name: 'nodes' },
    rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'patch'] }],
  } as KubeObject);
  await bind('viewer', 'view');
  await bind('drainer', 'view');
  await bind('drainer', 'nodes');
  viewer = plane.clientFor('viewer');
  drainer = plane.clientFor('drainer');
});
afterAll(() => plane.stop());

async function bind(user: string, role: string): Promise<void> {
  await plane.client.create(builtinType('ClusterRoleBinding', 'rbac.authorization.k8s.io'), {
    metadata: { name: `${user}-${role}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  } as KubeObject);
}

/** The role `view` of Kubernetes knows nothing of kinds that other software brings. */
const UNREAD = [
  'leaderworkersets.leaderworkerset.x-k8s.io',
  'leaderworkersets.apps.kruise.io',
  'disruptionpolicies.policy.quorate.dev',
  'podunavailablebudgets.policy.kruise.io',
];

const unreadBy = async (asked: Promise<unknown>): Promise<readonly string[]> => {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CannotTellError)) throw new Error(`it could tell, or failed: ${String(error)}`);
  return error.unread;
};

it('18.11: why names what it may not read and decides nothing', async () => {
  const unread = await unreadBy(explainTarget(viewer, { target: 'pod/llm-0', namespace, now }));
  expect(unread).toEqual(UNREAD);
  expect(await unreadBy(explainEverything(viewer, { now }))).toEqual(unread);
});

it('18.11: who may not read a node is told so, and not that a request failed', async () => {
  expect(await unreadBy(explainTarget(viewer, { target: 'node/node-1', namespace, now }))).toEqual(['nodes']);
  await expect(explainTarget(drainer, { target: 'node/node-9', namespace, now })).rejects.toThrow('"node-9" not found');
});

it('18.11: a kind that is not served is none, also for those who may read nothing else', async () => {
  const unread = await unreadBy(explainTarget(viewer, { target: 'pod/llm-0', namespace, now }));
  // Groups of our own definitions are not served here, and nobody could list them.
  expect(unread.filter((resource) => resource.includes('scheduling.quorate.dev'))).toEqual([]);
});

it('18.11: plan and drain stop before they touch anything', async () => {
  const request = { nodes: ['node-1'], all: false, nodesReturn: false, now };
  expect(await unreadBy(planClusterDrain(viewer, request))).toEqual(['nodes']);
  expect(await unreadBy(planClusterDrain(drainer, request))).toEqual(UNREAD);
  const { clock } = plane;
  const steps: string[] = [];
  const report = { step: (text: string) => void steps.push(text), progress: () => {} };
  const options = { nodes: ['node-1'], rules: RULES, allOrNothing: true, timeoutMs: 0 };
  for (const dryRun of [true, false]) {
    const unread = await unreadBy(drainNodes({ client: drainer, clock, report }, { ...options, dryRun }));
    expect(unread).toContain('podunavailablebudgets.policy.kruise.io');
  }
  expect(steps).toEqual(['node node-1 cordoned', 'node node-1 uncordoned again']);
});

it('18.11: lint with no access finds nothing out, which is not "nothing found"', async () => {
  const nobody = plane.clientFor('nobody');
  expect(await unreadBy(gatherClusterObjects(nobody, undefined))).toContain('pods');
});

it('18.11: a simulation of a snapshot that lacks budgets tells nothing', async () => {
  const snapshot = await takeSnapshot(drainer, { now });
  const options = {
    actions: [{ kind: 'drain' as const, nodes: ['node-1'] }],
    order: 'plan' as const,
    nodeDowntimeMs: 0,
    reload: { defaultMs: 0, byWorkload: new Map() },
    limitMs: 1000,
    stepMs: 1000,
    seed: 1,
  };
  expect(await unreadBy(simulate(snapshot, options))).toContain('PodUnavailableBudget');
});
