/** Room for an urgent pod: kube-scheduler may take a gang whose pods matter least, or pods that no budget protects. */
import { expect } from 'vitest';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { budget, budgetsOn, gangs, pod } from './gangs.ts';
import * as stage from './stage.ts';

const slots = { 'example.com/slot': '1' };
const holding = (priorityClassName: string, more: object = {}) => ({
  priorityClassName,
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9', resources: { limits: slots, requests: slots } }],
  ...more,
});

/** Two nodes, `node-0` and `node-1`, full of slots: on the first a gang of which nothing may go. It must stay whole. */
export async function expectGangToStay(plane: RealControlPlane): Promise<void> {
  const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
  const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
  const classes = Object.entries({ lowest: 1, lower: 2, urgent: 1000 }).map(([name, value]) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
  }));
  const capacity = JSON.stringify({ status: { capacity: { 'example.com/slot': '2' } } });
  for (const node of ['node-0', 'node-1']) {
    await kubectl('patch', 'node', node, '--subresource=status', '-p', capacity);
    const path = 'jsonpath={.status.allocatable.example\\.com/slot}';
    await stage.until('the node to have slots', async () => (await kubectl('get', 'node', node, '-o', path)) === '2');
  }
  // Without the budget the gang would be taken: its pods matter least.
  await apply(
    ...classes,
    ...gangs('kept', 1, 2, () => holding('lowest', { nodeName: 'node-0' })),
    budget('kept', { maxUnavailable: 0 }),
    pod('taken-0', 'taken', holding('lower', { nodeName: 'node-1' })),
    pod('taken-1', 'taken', holding('lower', { nodeName: 'node-1' })),
  );
  await budgetsOn(() => plane).shows('kept', '2/2/2/0');
  const urgent = pod('urgent', 'urgent', holding('urgent'));
  await apply({ ...urgent, spec: { ...urgent.spec, nodeName: undefined } });
  await stage.until(
    'the urgent pod to be placed',
    async () => (await kubectl('get', 'pod', 'urgent', '-o', 'jsonpath={.spec.nodeName}')) === 'node-1',
  );
  const left = await kubectl('get', 'pods', '-l', 'app in (kept,taken)', '-o', 'jsonpath={.items[*].metadata.name}');
  expect(left.split(' ').filter((name) => name.startsWith('kept'))).toHaveLength(2);
}
