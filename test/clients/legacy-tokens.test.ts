/** Tokens of service accounts that do not end, on a whole host over the network. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { type Client, createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import { secretType, serviceAccountType } from '../../src/api/resource-types.ts';
import { startHost } from './host.ts';

let host: EmbeddedHost;
let admin: Client;
const namespace = 'default';
const key = { namespace, name: 'robot-token' };
const LAST_USED = 'kubernetes.io/legacy-token-last-used';

beforeAll(async () => {
  host = await startHost();
  admin = createClient({
    transport: createHttpTransport(loadKubeconfig({ path: host.kubeconfig })).send,
    userAgent: 'test',
  });
});
afterAll(() => host?.stop());

async function whoHas(token: string): Promise<{ user?: { username: string; groups: string[] }; error?: string }> {
  const review = { spec: { token } };
  const { status } = await admin.request<{ status: { authenticated?: boolean; user?: never; error?: string } }>(
    'POST',
    '/apis/authentication.k8s.io/v1/tokenreviews',
    review,
  );
  return status;
}

async function reads(token: string): Promise<number> {
  const { ca, namespace: home, server } = loadKubeconfig({ path: host.kubeconfig });
  const transport = createHttpTransport({ ca, namespace: home, server }).send;
  const { status } = await transport({
    method: 'GET',
    path: '/api/v1/namespaces/default/configmaps',
    headers: { authorization: `Bearer ${token}` },
  });
  return status;
}

test('18: a token of a Secret authenticates while the Secret holds it, which notes the day of its use', async () => {
  await admin.create(serviceAccountType, { metadata: { namespace, name: 'robot' } });
  await admin.create(secretType, {
    metadata: { ...key, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
  });
  const tokenOf = async () => (await admin.get(secretType, key)).data?.['token'] ?? '';
  await expect.poll(tokenOf).not.toBe('');
  const token = Buffer.from(await tokenOf(), 'base64').toString();

  // Known, and without rights.
  expect(await reads(token)).toBe(403);
  expect(await whoHas(token)).toMatchObject({
    authenticated: true,
    user: {
      username: 'system:serviceaccount:default:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    },
  });
  const lastUsed = async () => (await admin.get(secretType, key)).metadata.labels?.[LAST_USED];
  await expect.poll(lastUsed).toBe(new Date().toISOString().slice(0, 10));

  const label = (value: string | null) =>
    admin.patch(secretType, key, {
      type: 'merge',
      body: { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': value } } },
    });
  await label('2026-01-01');
  expect(await reads(token)).toBe(401);
  expect((await whoHas(token)).error).toContain('has been marked invalid');
  await label(null);
  expect(await reads(token)).toBe(403);

  await admin.delete(serviceAccountType, { namespace, name: 'robot' });
  expect(await reads(token)).toBe(401);
  await expect
    .poll(async () => (await admin.list(secretType, { namespace })).items.map(({ metadata }) => metadata.name))
    .not.toContain('robot-token');
});
