/** Fills a data folder with many nodes, groups and pods by multiplying samples that were made through the API. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openLmdbStore, type StoredEntry } from '../../src/storage/index.ts';
import { createLoad, expectStatus, measureRate, podBody, type Send } from '../control-plane/load.ts';
import { startQuorate } from '../control-plane/target.ts';

export interface FleetSize {
  readonly nodes: number;
  readonly pods: number;
  /** Pods of one PodGroup; 0 leaves pods without groups, and bound to no node. */
  readonly groupSize: number;
}

const PODS = '/api/v1/namespaces/default/pods';
const GROUPS = '/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups';
const POOLS = 8;

interface Stored {
  readonly metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string> };
  spec?: { nodeName?: string; schedulingGroup?: { podGroupName: string } };
  status?: object;
}

const numbered = (at: number): string => String(at).padStart(6, '0');
const SINCE = '2026-01-01T00:00:00Z';
const RUNNING = {
  phase: 'Running',
  conditions: ['Ready', 'PodScheduled'].map((type) => ({ type, status: 'True', lastTransitionTime: SINCE })),
};

export async function seedFleet(folder: string, size: FleetSize): Promise<void> {
  const target = await startQuorate(folder);
  const { close, send } = createLoad(target, 1);
  try {
    await createSamples(send, size);
  } finally {
    close();
    await target.stop();
  }
  const store = await openLmdbStore({ directory: join(folder, 'data', 'store') });
  const multiply = async (suffix: string, count: number, change: (object: Stored, at: number) => void) => {
    if (count <= 0) return;
    const sample = store.range('').find(({ key }) => key.endsWith(suffix));
    if (sample === undefined) throw new Error(`The store has no key that ends in ${suffix}`);
    await measureRate({ count, atOnce: 256 }, (at) =>
      store.transact((txn) =>
        txn.put(sample.key.replace(/sample$/, numbered(at)), (revision) => copy(sample, revision, at, change)),
      ),
    );
  };
  const { groupSize, nodes, pods } = size;
  // The samples stay, and count.
  await multiply('/nodes/node-sample', nodes - 1, ({ metadata }, at) => {
    metadata.labels = { ...metadata.labels, pool: `pool-${at % POOLS}` };
  });
  await multiply('/podgroups/default/gang-sample', groupSize === 0 ? 0 : Math.ceil(pods / groupSize), () => {});
  await multiply('/pods/default/web-sample', pods - 1, (pod, at) => place(pod, at, size));
  await store.close();
}

function copy(
  { value }: StoredEntry,
  revision: number,
  at: number,
  change: (object: Stored, at: number) => void,
): Buffer {
  const object = JSON.parse(value.toString()) as Stored;
  object.metadata.name = object.metadata.name.replace('sample', numbered(at));
  object.metadata.uid = randomUUID();
  object.metadata.resourceVersion = String(revision);
  change(object, at);
  return Buffer.from(JSON.stringify(object));
}

/** Members of a group stand on nodes beside each other, as they do in racks; every hundredth is not ready. */
function place(pod: Stored, at: number, { groupSize, nodes, pods }: FleetSize): void {
  pod.metadata.labels = { app: `app-${Math.floor(at / 2000)}`, team: `team-${Math.floor(at / 10_000)}` };
  if (groupSize === 0) return;
  const node = Math.floor((at * nodes) / pods);
  const spread = Math.floor(at / groupSize) % 3;
  pod.spec = {
    ...pod.spec,
    nodeName: `node-${numbered((node + (at % groupSize) * spread) % nodes)}`,
    schedulingGroup: { podGroupName: `gang-${numbered(Math.floor(at / groupSize))}` },
  };
  pod.status = at % 100 === 99 ? { phase: 'Pending' } : RUNNING;
}

async function createSamples(send: Send, { groupSize }: FleetSize): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-sample' } };
  await expectStatus(send('POST', '/api/v1/nodes', JSON.stringify(node)), 201);
  const ready = JSON.stringify({ status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] } });
  await expectStatus(send('PATCH', '/api/v1/nodes/node-sample/status', ready, 'application/merge-patch+json'), 200);
  if (groupSize > 0) {
    const group = {
      apiVersion: 'scheduling.k8s.io/v1beta1',
      kind: 'PodGroup',
      metadata: { name: 'gang-sample' },
      spec: { schedulingPolicy: { gang: { minCount: groupSize } } },
    };
    await expectStatus(send('POST', GROUPS, JSON.stringify(group)), 201);
  }
  await expectStatus(send('POST', PODS, podBody('web-sample', { small: true })), 201);
}
