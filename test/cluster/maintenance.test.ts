/** A drain as an object on the real binaries: the operator plans it, claims nodes, and moves gangs one after the other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Maintenance, maintenanceType } from '../../src/api/quorate/maintenance.ts';
import { nodeType } from '../../src/api/resource-types.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { budget } from './gangs.ts';
import * as stage from './stage.ts';

const { until } = stage;
const TEAMS = ['team-0', 'team-1', 'team-2'];

let plane: RealControlPlane;
let client: Client;
let nodes: NodesHost;
let operator: Operator;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);

beforeAll(async () => {
  plane = await stage.startPlane();
  client = createNetworkClient(plane, 'quorate-test');
  await stage.prepareCluster(plane);
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 5 } });
  operator = await stage.startReplica(plane, 'first', 'adopt');
  await stage.registerWebhooks(plane, operator, undefined, 'adopt');
  await stage.apply(
    plane,
    groups.workload(stage.groupVersion, 'team', 2),
    ...TEAMS.map((team) => groups.podGroup(stage.groupVersion, team, 'team', 2)),
    ...TEAMS.map(deployment),
    budget('team', { maxUnavailable: 1 }),
  );
  await kubectl('wait', '--for=condition=Available', 'deployment', '--all', '--timeout=120s');
});

afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const deployment = (team: string, at: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: team, namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { team } },
    template: {
      metadata: { labels: { app: 'team', team } },
      spec: {
        schedulingGroup: { podGroupName: team },
        terminationGracePeriodSeconds: 1,
        // Each on a node of its own at first, and on another when that one is drained.
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                preference: {
                  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [`node-${at}`] }],
                },
              },
            ],
          },
        },
        containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }],
      },
    },
  },
});

const read = (name: string): Promise<Maintenance> => client.get(maintenanceType, { name });

test('MN-06: on a cluster a Maintenance drains two nodes, each gang goes down once, and its nodes come back', async () => {
  const maintenance: Maintenance = {
    metadata: { name: 'kernel-update' },
    spec: { nodes: { names: ['node-0', 'node-1'] }, uncordon: 'WhenFinished', pace: { maxGroupsDownAtOnce: 1 } },
  };
  await client.create(maintenanceType, maintenance);
  await until('it to be done', async () => (await read('kernel-update')).status?.phase === 'Done', 120_000);
  const { status } = await read('kernel-update');
  expect(status?.groups).toMatchObject({ downNow: 0 });
  expect(status?.groups).toMatchObject({ downTotal: 2, planned: 2 });
  expect(status?.groups?.hit?.every(({ count }) => count === 1)).toBe(true);
  for (const name of ['node-0', 'node-1']) {
    const { metadata, spec, status: told } = await client.get(nodeType, { name });
    expect(spec?.unschedulable).toBeUndefined();
    expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith('policy.quorate.dev'))).toEqual([]);
    const conditions = new Map(told?.conditions?.map(({ reason, type }) => [type, reason]));
    expect(conditions.get('DrainInProgress')).toBe('DrainCompleted');
  }
  expect(await kubectl('get', 'mnt', 'kernel-update', '--no-headers')).toMatch(/^kernel-update +Done /);
});

test('MN-01: on a cluster the webhook refuses what the embedded host refuses', async () => {
  const senseless: Maintenance = { metadata: { name: 'senseless' }, spec: { nodes: { names: ['node-0'], all: true } } };
  await expect(client.create(maintenanceType, senseless)).rejects.toThrow('spec.nodes');
});
