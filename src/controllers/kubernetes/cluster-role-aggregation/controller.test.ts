import { expect, test } from 'vitest';
import type { ClusterRole } from '../../../api/generated/rbac-v1.ts';
import { startControlPlane } from '../../../testkit/index.ts';
import { clusterRoleAggregationController } from './controller.ts';

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const part = (name: string, resource: string) => ({
  metadata: { name, labels: { part: 'yes' } },
  rules: [{ verbs: ['get'], apiGroups: [''], resources: [resource] }],
});

test('an aggregating role follows the roles it selects', async () => {
  const plane = await startControlPlane({ controllers: [clusterRoleAggregationController] });
  await plane.client.request('POST', ROLES, part('b', 'pods'));
  await plane.client.request('POST', ROLES, {
    metadata: { name: 'sum' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] },
  });
  await plane.client.request('POST', ROLES, part('a', 'secrets'));
  await plane.settle();
  const resources = async (): Promise<unknown> => {
    const { rules } = await plane.client.request<ClusterRole>('GET', `${ROLES}/sum`);
    return rules?.map((rule) => rule.resources?.[0]);
  };
  expect(await resources()).toEqual(['secrets', 'pods']);
  await plane.client.request('DELETE', `${ROLES}/a`);
  await plane.settle();
  expect(await resources()).toEqual(['pods']);
  await plane.stop();
});
