/** The budgets of the page for people who run other operators, on pods in the shapes that those operators make. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDisruptionController } from '../../src/controllers/quorate/disruption/index.ts';
import {
  apply,
  expectEvicted,
  expectRefused,
  type KubeObject,
  pod,
  setReady,
  startControlPlane,
} from '../../src/testkit/index.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guide', 'other-operators.md'), 'utf8');
const budgets = new Map(
  [...page.matchAll(/^```yaml budget\n([^]*?)^```/gm)].map(([, text = '']) => [
    /^ {2}name: (\S+)$/m.exec(text)?.[1],
    text,
  ]),
);

/** What the operator writes on the pod at this place of this group, and who owns it. */
interface Marks {
  readonly labels: Record<string, string>;
  readonly owner: Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly name: string };
}

const SIZE = 3;
const shapes: Readonly<Record<string, (group: number, at: number) => Marks>> = {
  leaderworkerset: (group, at) => ({
    labels: {
      'leaderworkerset.sigs.k8s.io/name': 'llm',
      'leaderworkerset.sigs.k8s.io/group-index': `${group}`,
      'leaderworkerset.sigs.k8s.io/group-key': `key-${group}`,
      'leaderworkerset.sigs.k8s.io/worker-index': `${at}`,
    },
    owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: at === 0 ? 'llm' : `llm-${group}` },
  }),
  jobset: (group) => ({
    labels: {
      'jobset.sigs.k8s.io/jobset-name': 'train',
      'jobset.sigs.k8s.io/replicatedjob-name': 'workers',
      'jobset.sigs.k8s.io/replicatedjob-replicas': '2',
      'jobset.sigs.k8s.io/job-index': `${group}`,
      'batch.kubernetes.io/job-name': `train-workers-${group}`,
    },
    owner: { apiVersion: 'batch/v1', kind: 'Job', name: `train-workers-${group}` },
  }),
  trainer: (group) => ({
    labels: {
      'jobset.sigs.k8s.io/jobset-name': `tune-${group}`,
      'jobset.sigs.k8s.io/replicatedjob-name': 'node',
      'jobset.sigs.k8s.io/replicatedjob-replicas': '1',
      'jobset.sigs.k8s.io/job-index': '0',
    },
    owner: { apiVersion: 'batch/v1', kind: 'Job', name: `tune-${group}-node-0` },
  }),
  ray: (group, at) => ({
    labels: {
      'ray.io/cluster': `chat-${group}`,
      'ray.io/is-ray-node': 'yes',
      'ray.io/node-type': at === 0 ? 'head' : 'worker',
      'ray.io/group': at === 0 ? 'headgroup' : 'workers',
    },
    owner: { apiVersion: 'ray.io/v1', kind: 'RayCluster', name: `chat-${group}` },
  }),
  volcano: (group) => ({
    labels: {
      'volcano.sh/job-name': `mpi-${group}`,
      'volcano.sh/job-namespace': 'default',
      'volcano.sh/queue-name': 'research',
      'volcano.sh/task-spec': 'worker',
    },
    owner: { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', name: `mpi-${group}` },
  }),
  kueue: (group) => ({
    labels: { 'kueue.x-k8s.io/managed': 'true', 'kueue.x-k8s.io/pod-group-name': `batch-${group}` },
    owner: { apiVersion: 'example.com/v1', kind: 'Batch', name: `batch-${group}` },
  }),
};

test('22.3: the page has a budget for each operator', () => {
  expect([...budgets.keys()]).toEqual(['leaderworkerset', 'jobset', 'trainer', 'ray', 'volcano', 'kueue']);
});

test('22.3: each budget lets one group go, and no second', async () => {
  for (const [name = '', budget] of budgets) {
    const plane = await startControlPlane({ controllers: [createDisruptionController()] });
    try {
      await apply(plane, sets(name));
      await apply(plane, budget);
      const pods = [0, 1].flatMap((group) => Array.from({ length: SIZE }, (_, at) => member(name, group, at)));
      await apply(plane, pods);
      for (const one of pods) await setReady(plane, one);
      await plane.settle();

      for (let at = 0; at < SIZE; at += 1) await expectEvicted(plane, `${name}-0-${at}`);
      await expectRefused(plane, `${name}-1-0`, 'counts pod groups: 1 of 2 expected healthy, 1 needed');
    } finally {
      await plane.stop();
    }
  }
});

function member(name: string, group: number, at: number): KubeObject {
  const marks = shapes[name]?.(group, at);
  if (marks === undefined) throw new Error(`No shape of the pods of ${name}`);
  const made = pod({ name: `${name}-${group}-${at}`, labels: marks.labels, spec: { nodeName: `node-${group}` } });
  return {
    ...made,
    metadata: { ...made.metadata, ownerReferences: [{ ...marks.owner, uid: `${name}-${group}`, controller: true }] },
  } as KubeObject;
}

/** A LeaderWorkerSet itself says how many groups there are, of how many pods. */
function sets(name: string): string {
  return name !== 'leaderworkerset'
    ? ''
    : `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: { name: llm }
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: ${SIZE}
    workerTemplate: { spec: { containers: [{ name: serve, image: example.com/serve }] } }
`;
}
