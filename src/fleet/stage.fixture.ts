/** A small fleet to ask about. */
import type { KubeObject } from '../api/resource.ts';
import { Fleet } from './fleet.ts';

export const NOW = Date.parse('2026-01-01T00:00:00Z');

export const stagedNode = (name: string): KubeObject =>
  ({ metadata: { name }, status: { allocatable: { cpu: '8', memory: '64Gi', pods: '20' } } }) as KubeObject;

const pod = (gang: string, at: number, on: string): KubeObject =>
  ({
    metadata: { name: `${gang}-${at}`, namespace: 'ml', uid: `${gang}-${at}`, labels: { app: 'train' } },
    spec: { nodeName: on, schedulingGroup: { podGroupName: gang }, containers: [{ name: 'c' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }) as KubeObject;

/** Three gangs of two on six nodes, two of them empty, each gang across two neighbours; one gang may be down. */
export function stagedFleet(): Fleet {
  const made = new Fleet();
  for (const name of ['f', 'e', 'd', 'c', 'b', 'a']) made.set('Node', stagedNode(name));
  for (const name of ['gang-0', 'gang-1', 'gang-2']) {
    const spec = { schedulingPolicy: { gang: { minCount: 2 } } };
    const metadata = { name, namespace: 'ml' };
    made.set('PodGroup', { apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', metadata, spec } as KubeObject);
  }
  const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'train' } } };
  const group = { type: 'PodGroupBudget', status: 'True', reason: 'GroupUnits' };
  const status = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, conditions: [group] };
  made.set('PodDisruptionBudget', { metadata: { name: 'train', namespace: 'ml' }, spec, status } as KubeObject);
  const places = [
    ['a', 'c'],
    ['b', 'd'],
    ['c', 'd'],
  ];
  for (const [at, [first = '', second = '']] of places.entries()) {
    made.set('Pod', pod(`gang-${at}`, 0, first));
    made.set('Pod', pod(`gang-${at}`, 1, second));
  }
  made.settle(NOW);
  return made;
}
