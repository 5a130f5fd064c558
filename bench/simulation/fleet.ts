/** A fleet of gangs, as a snapshot: LeaderWorkerSets whose groups start together or not at all, under budgets of groups. */
import { leaderWorkerSetType } from '../../src/api/lws/types.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { namespaceType, podDisruptionBudgetType } from '../../src/api/resource-types.ts';
import { embeddedComponents } from '../../src/app/components.ts';
import { createSimulatedNodes } from '../../src/nodes/index.ts';
import { type Snapshot, takeSnapshot } from '../../src/tasks/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

export interface FleetSize {
  readonly nodes: number;
  /** Rounded down to whole sets. */
  readonly pods: number;
}

const MEMBERS = 8;
const GROUPS_OF_A_SET = 10;
/** One in so many nodes is new and empty: room for the first groups to go to. */
const EMPTY = 10;
const NAMESPACE = 'fleet';

/** Brings the fleet up in a whole plane and takes the snapshot that a user would take of it. */
export async function snapshotOfFleet({ nodes, pods }: FleetSize): Promise<Snapshot> {
  const empty = Math.ceil(nodes / EMPTY);
  const capacity = { cpu: String(Math.ceil(pods / (nodes - empty))), memory: '1Ti' };
  const simulated = createSimulatedNodes({ count: nodes - empty, shape: { capacity } });
  const plane = await startControlPlane({ controllers: [...embeddedComponents({ authority: '' }), simulated] });
  const { client } = plane;
  try {
    await client.create(namespaceType, { metadata: { name: NAMESPACE } });
    const sets = Math.floor(pods / (MEMBERS * GROUPS_OF_A_SET));
    await pass(plane, 2);
    for (let at = 0; at < sets; at += 1) await addSet(plane, `set-${String(at).padStart(3, '0')}`);
    const wanted = sets * GROUPS_OF_A_SET * MEMBERS;
    for (let seconds = 0; seconds < 600; seconds += 10) {
      await pass(plane, 10);
      const snapshot = await takeSnapshot(client, { now: plane.clock.now() });
      if (countReady(snapshot) < wanted) continue;
      const objects = [...snapshot.objects, ...emptyNodes(snapshot, empty)];
      return { ...snapshot, objects };
    }
    throw new Error(`fewer than ${wanted} pods were ready after ten simulated minutes`);
  } finally {
    await plane.stop();
  }
}

function emptyNodes({ objects }: Snapshot, count: number): KubeObject[] {
  const [node] = objects.filter(({ kind }) => kind === 'Node');
  if (node === undefined) return [];
  return Array.from({ length: count }, (_, at) => {
    const name = `empty-${at}`;
    const { uid: _uid, ...metadata } = node.metadata;
    return { ...node, metadata: { ...metadata, name, labels: { ...metadata.labels, 'kubernetes.io/hostname': name } } };
  });
}

async function addSet({ client }: ControlPlane, name: string): Promise<void> {
  const metadata = { name, namespace: NAMESPACE };
  const labels = { app: name };
  const container = { name: 'main', image: 'example.com/serve', resources: { requests: { cpu: '1' } } };
  await client.create(leaderWorkerSetType, {
    metadata,
    spec: {
      replicas: GROUPS_OF_A_SET,
      scheduling: {},
      leaderWorkerTemplate: {
        size: MEMBERS,
        workerTemplate: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
  });
  await client.create(podDisruptionBudgetType, {
    metadata,
    spec: { maxUnavailable: 2, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: labels } },
  });
}

const countReady = ({ objects }: Snapshot): number =>
  objects.filter(({ kind, ...object }) => {
    const conditions = (object as { status?: { conditions?: { type: string; status: string }[] } }).status?.conditions;
    return kind === 'Pod' && conditions?.some(({ status, type }) => type === 'Ready' && status === 'True') === true;
  }).length;

async function pass(plane: ControlPlane, seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at += 1) {
    await plane.clock.advance(1000);
    await plane.settle();
  }
}
