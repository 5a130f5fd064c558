import { expect, it } from 'vitest';
import { defaultFlowSchemas } from '../../api/flow-control.ts';
import type { FlowSchema } from '../../api/generated/flowcontrol-v1.ts';
import { parseRequest } from '../request/info.ts';
import { distinguish, inOrder, matchesSchema } from './classify.ts';

const schemas = inOrder(defaultFlowSchemas);
const ACCOUNTS = ['system:serviceaccounts', 'system:authenticated'];

/** Of the default FlowSchemas, as kube-apiserver answers with its headers. */
const CASES: readonly [username: string, groups: readonly string[], method: string, path: string, schema: string][] = [
  ['admin', ['system:masters', 'system:authenticated'], 'GET', '/api/v1/pods', 'exempt'],
  ['jane', ['system:authenticated'], 'GET', '/api/v1/namespaces/a/pods/x', 'global-default'],
  ['jane', ['system:authenticated'], 'GET', '/healthz', 'probes'],
  ['system:anonymous', ['system:unauthenticated'], 'GET', '/readyz/ping', 'probes'],
  ['system:anonymous', ['system:unauthenticated'], 'POST', '/readyz', 'global-default'],
  ['system:anonymous', ['system:unauthenticated'], 'GET', '/version', 'global-default'],
  ['system:node:n', ['system:nodes', 'system:authenticated'], 'PATCH', '/api/v1/nodes/n/status', 'system-node-high'],
  ['system:node:n', ['system:nodes', 'system:authenticated'], 'GET', '/api/v1/pods', 'system-nodes'],
  [
    'system:node:n',
    ['system:nodes', 'system:authenticated'],
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n',
    'system-node-high',
  ],
  [
    'system:kube-scheduler',
    ['system:authenticated'],
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler',
    'system-leader-election',
  ],
  ['system:kube-scheduler', ['system:authenticated'], 'GET', '/api/v1/pods', 'kube-scheduler'],
  [
    'system:kube-controller-manager',
    ['system:authenticated'],
    'POST',
    '/api/v1/namespaces/a/pods',
    'kube-controller-manager',
  ],
  ['system:serviceaccount:kube-system:job', ACCOUNTS, 'GET', '/api/v1/pods', 'kube-system-service-accounts'],
  ['system:serviceaccount:kube-systems:job', ACCOUNTS, 'GET', '/api/v1/pods', 'service-accounts'],
  ['nobody', [], 'GET', '/api/v1/pods', ''],
];

it.each(CASES)('%s of %j: %s %s belongs to %s', (username, groups, method, path, schema) => {
  const asked = { user: { username, groups }, method, info: parseRequest(method, path, '') };
  const found = schemas.find((one) => matchesSchema(one, asked));
  expect(found?.metadata.name ?? '').toBe(schema);
});

it('tells flows apart by user, by namespace, or not at all', () => {
  const asked = {
    user: { username: 'jane', groups: [] },
    method: 'GET',
    info: parseRequest('GET', '/api/v1/namespaces/a/pods', ''),
  };
  const of = (name: string): string => {
    const schema = schemas.find(({ metadata }) => metadata.name === name) as FlowSchema;
    return distinguish(schema, asked);
  };
  expect([of('global-default'), of('kube-scheduler'), of('exempt')]).toEqual(['jane', 'a', '']);
});
