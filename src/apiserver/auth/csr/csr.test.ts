import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Client, createClient, ManualClock } from '../../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../../storage/index.ts';
import { inProcessTransport } from '../../in-process.ts';
import { builtinRows } from '../../kinds/rows.ts';
import { type ApiServer, createApiServer } from '../../server.ts';
import { createAuth } from '../auth.ts';
import { openPki, type Pki } from '../pki.ts';

let server: ApiServer;
let pki: Pki;
let admin: Client;
let issued = 0;

beforeEach(async () => {
  const clock = new ManualClock(Date.now());
  pki = await openPki({ clock });
  server = createApiServer({
    store: createMemoryStore(),
    rows: builtinRows(),
    clock,
    access: (reads) => createAuth({ reads, pki, clock, newUid: () => `uid-${(issued += 1)}` }),
  });
  admin = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
});
afterEach(() => server.close());

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** A request for a certificate, as an openssl user would make it. */
async function pem(organization: string): Promise<string> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: `CN=jane,O=${organization}`,
    keys,
    signingAlgorithm: algorithm,
  });
  return request.toString('pem');
}

async function ask(name: string, organization = 'dev', over: object = {}): Promise<void> {
  await admin.request('POST', CSRS, {
    metadata: { name },
    spec: {
      request: Buffer.from(await pem(organization)).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      ...over,
    },
  });
}

interface Csr {
  metadata: object;
  spec: { username: string };
  status: { certificate?: string; conditions?: { type: string; lastUpdateTime?: string }[] };
}

async function approve(name: string, client: Client = admin): Promise<Csr> {
  const csr = await admin.request<Csr>('GET', `${CSRS}/${name}`);
  csr.status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Test' } as { type: string }] };
  return client.request('PUT', `${CSRS}/${name}/approval`, csr);
}

test('an approved request is signed, and the certificate names its subject', async () => {
  await ask('a');
  const approved = await approve('a');
  expect(approved.spec.username).toBe('system:admin');
  expect(approved.status.conditions?.[0]?.lastUpdateTime).toBeDefined();
  // Signing runs on other threads, so its time is real.
  const signed = await vi.waitFor(
    async () => {
      const csr = await admin.request<Csr>('GET', `${CSRS}/a`);
      expect(csr.status.certificate).toBeDefined();
      return csr;
    },
    { timeout: 120_000, interval: 20 },
  );
  const certificate = new X509Certificate(Buffer.from(signed.status.certificate ?? '', 'base64'));
  expect(certificate.subject.split('\n').sort()).toEqual(['CN=jane', 'O=dev']);
  expect(certificate.verify(new X509Certificate(pki.authority.certificate).publicKey)).toBe(true);
});

test('nobody asks to become a superuser, and what is no request is refused', async () => {
  await expect(ask('a', 'system:masters')).rejects.toMatchObject({ code: 403 });
  const broken = Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n');
  await expect(ask('b', 'dev', { request: broken.toString('base64') })).rejects.toMatchObject({ code: 422 });
  await expect(ask('c', 'dev', { usages: [] })).rejects.toMatchObject({ code: 422 });
});

test('approving takes the right to approve for the signer, beside the right to write', async () => {
  await ask('a');
  await admin.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'writer' },
    rules: [{ verbs: ['*'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/approval'] }],
  });
  await admin.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'writer' },
    subjects: [{ kind: 'User', name: 'bob' }],
    roleRef: { kind: 'ClusterRole', name: 'writer' },
  });
  const bob = createClient({
    transport: inProcessTransport(server.handle, { username: 'bob', groups: [] }),
    userAgent: 'bob',
  });
  await expect(approve('a', bob)).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('user not permitted to approve requests with signerName'),
  });
});

test('the main resource cannot approve', async () => {
  await ask('a');
  const csr = await admin.request<Csr>('GET', `${CSRS}/a`);
  csr.status = { conditions: [{ type: 'Approved' }] };
  const written = await admin.request<Csr>('PUT', `${CSRS}/a`, csr);
  expect(written.status.conditions ?? []).toEqual([]);
});
