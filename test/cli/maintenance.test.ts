/** Who may make Maintenances, asked over the wire as a user with fewer rights than the administrator. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { type Maintenance, maintenanceType } from '../../src/api/quorate/maintenance.ts';
import { builtinType } from '../../src/api/registry.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  loadKubeconfig,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { followDrain } from '../../src/tasks/index.ts';
import { startHost } from '../clients/host.ts';

let host: EmbeddedHost;
let bob: Client;
let close = (): void => {};

beforeAll(async () => {
  host = await startHost({ nodes: 1 });
  const access = loadKubeconfig({ path: host.kubeconfig });
  const transport = createHttpTransport({ ...access, headers: { 'impersonate-user': ['bob'] } });
  close = () => transport.close();
  bob = createClient({ transport: transport.send, userAgent: 'test' });
});
afterAll(async () => {
  close();
  await host?.stop();
});

async function allow(name: string, rule: { apiGroups: string[]; resources: string[]; verbs: string[] }): Promise<void> {
  await host.client.create(builtinType('ClusterRole', 'rbac.authorization.k8s.io'), {
    metadata: { name },
    rules: [rule],
  } as never);
  await host.client.create(builtinType('ClusterRoleBinding', 'rbac.authorization.k8s.io'), {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  } as never);
}

test('a drain by somebody who may not make Maintenances goes without one', async () => {
  const report = { step: () => {}, progress: () => {} };
  const spec = { nodes: { names: ['node-0'] } };
  expect(await followDrain({ client: bob, clock: systemClock, report }, spec, () => false)).toBeUndefined();
});

test('MN-04: a Maintenance takes the rights that its drain needs, and nothing is stored without them', async () => {
  const wanted: Maintenance = {
    metadata: { name: 'update' },
    spec: { nodes: { names: ['node-0'] }, paused: true },
  };
  await allow('maintainer', { apiGroups: ['policy.quorate.dev'], resources: ['maintenances'], verbs: ['create'] });
  await expect(bob.create(maintenanceType, wanted)).rejects.toThrow(
    'User "bob" cannot create a maintenance: it takes the right to patch nodes',
  );
  await allow('cordoner', { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] });
  await expect(bob.create(maintenanceType, wanted)).rejects.toMatchObject({ code: 403 });
  expect((await host.client.list(maintenanceType, {})).items).toEqual([]);
  await allow('evictor', { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] });
  expect((await bob.create(maintenanceType, wanted)).metadata.name).toBe('update');
});
