import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { COMMON_NAME, ORGANIZATION } from '../../../machinery/runtime/certificate-request.ts';
import { type WrittenAttribute, writeRequest } from '../../../machinery/runtime/certificate-request.fixture.ts';
import { Tag } from '../../../machinery/runtime/der.ts';
import { type Client, createClient, ManualClock } from '../../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../../storage/index.ts';
import { inProcessTransport } from '../../server/in-process.ts';
import { builtinResources } from '../../kinds/resources.ts';
import { type ApiServer, createApiServer } from '../../server/server.ts';
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
    resources: builtinResources(),
    clock,
    access: (reads) => createAuth({ reads, pki, clock, newUid: () => `uid-${(issued += 1)}` }),
  });
  admin = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
});
afterEach(() => server.close());

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

const attribute = (type: string, value: string, tag?: number): WrittenAttribute => ({
  type,
  value,
  ...(tag && { tag }),
});
const cn = (value: string, tag?: number) => attribute(COMMON_NAME, value, tag);
const o = (value: string, tag?: number) => attribute(ORGANIZATION, value, tag);

async function send(name: string, pem: string, over: object = {}): Promise<void> {
  await admin.request('POST', CSRS, {
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      ...over,
    },
  });
}

const ask = (name: string, organization = 'dev', over: object = {}): Promise<void> =>
  send(name, writeRequest({ subject: [[o(organization)], [cn('jane')]] }), over);

interface Csr {
  metadata: object;
  spec: { username: string };
  status: { certificate?: string; conditions?: { type: string; message?: string; lastUpdateTime?: string }[] };
}

async function approve(name: string, client: Client = admin): Promise<Csr> {
  const csr = await admin.request<Csr>('GET', `${CSRS}/${name}`);
  csr.status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Test' } as { type: string }] };
  return client.request('PUT', `${CSRS}/${name}/approval`, csr);
}

/** Approves, and waits until the signer has signed or said why not. Signing runs on other threads: its time is real. */
async function outcome(name: string): Promise<Csr> {
  await approve(name);
  return vi.waitFor(
    async () => {
      const csr = await admin.request<Csr>('GET', `${CSRS}/${name}`);
      expect(csr.status.certificate ?? csr.status.conditions?.find(({ type }) => type === 'Failed')).toBeDefined();
      return csr;
    },
    { timeout: 120_000, interval: 20 },
  );
}

const failureOf = ({ status }: Csr): string | undefined =>
  status.conditions?.find(({ type }) => type === 'Failed')?.message;

/** As the server reads the certificate of a client. */
function subjectOf({ status }: Csr): { CN: unknown; O: unknown } {
  const { subject } = new X509Certificate(Buffer.from(status.certificate ?? '', 'base64')).toLegacyObject();
  const { CN, O } = subject as { CN: unknown; O: unknown };
  return { CN, O };
}

test('an approved request is signed, and the certificate names its subject', async () => {
  await ask('a');
  const signed = await outcome('a');
  expect(signed.spec.username).toBe('system:admin');
  expect(signed.status.conditions?.[0]?.lastUpdateTime).toBeDefined();
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

test.each([
  ['a backslash before it', [[o('\\system:masters')]], '\\system:masters'],
  ['a hex form of it', [[o('#0c0e73797374656d3a6d617374657273')]], '#0c0e73797374656d3a6d617374657273'],
  ['quotes around it', [[o('"system:masters"')]], '"system:masters"'],
  ['it inside another value', [[o('dev, O=system:masters')]], 'dev, O=system:masters'],
  ['it after a plus', [[o('dev+O=system:masters')]], 'dev+O=system:masters'],
])('17.7: the subject goes from the request to the certificate as it is: %s', async (_what, subject, group) => {
  await send('a', writeRequest({ subject: [...subject, [cn('jane')]] }));
  expect(subjectOf(await outcome('a'))).toEqual({ CN: 'jane', O: group });
});

test.each([
  ['in a BMPString', [[o('system:masters', Tag.BMP)]]],
  ['in a TeletexString', [[o('system:masters', Tag.TELETEX)]]],
  ['as one of many', [[o('dev')], [o('system:masters')]]],
  ['in one place with others', [[cn('x'), o('dev'), o('system:masters')]]],
])('17.7: nobody asks to become a superuser %s', async (_what, subject) => {
  const pem = writeRequest({ subject: [...subject, [cn('jane')]] });
  await expect(send('a', pem)).rejects.toMatchObject({ code: 403 });
});

const kubelet = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['client auth', 'digital signature'],
};
const nodeName = [[o('system:nodes')], [cn('system:node:n1')]];
test.each([
  ['another group', { subject: [[o('system:masters')], [cn('system:node:n1')]] }, {}, 'organization is not'],
  ['a second group', { subject: [[o('system:masters'), o('system:nodes')], ...nodeName] }, {}, 'organization is not'],
  ['no group', { subject: [[cn('system:node:n1')]] }, {}, 'organization is not'],
  ['another name', { subject: [[o('system:nodes')], [cn('jane')]] }, {}, 'does not begin with'],
  ['a last name that counts', { subject: [...nodeName, [cn('jane')]] }, {}, 'does not begin with'],
  ['alternative names', { subject: nodeName, alternativeNames: [[0x82, 'a.b']] }, {}, 'DNS subjectAltNames'],
  ['missing usages', { subject: nodeName }, { usages: ['client auth'] }, 'usages did not match'],
  ['other usages', { subject: nodeName }, { usages: [...kubelet.usages, 'server auth'] }, 'usages did not match'],
] as const)('17.7: the signer of kubelets refuses %s', async (_what, request, over, message) => {
  await send('a', writeRequest(request), { ...kubelet, ...over });
  const refused = await outcome('a');
  expect(refused.status.certificate).toBeUndefined();
  expect(failureOf(refused)).toContain(message);
});

test('17.7: a kubelet gets its certificate, with the usages and the time it asked for', async () => {
  await send('a', writeRequest({ subject: nodeName }), { ...kubelet, expirationSeconds: 3600 });
  const signed = await outcome('a');
  expect(subjectOf(signed)).toEqual({ CN: 'system:node:n1', O: 'system:nodes' });
  const certificate = new X509Certificate(Buffer.from(signed.status.certificate ?? '', 'base64'));
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(certificate.ca).toBe(false);
  const life = Date.parse(certificate.validTo) - Date.parse(certificate.validFrom);
  expect(life).toBe((3600 + 300) * 1000);
});

test('17.7: a client certificate is for clients only', async () => {
  await ask('a', 'dev', { usages: ['client auth', 'cert sign'] });
  expect(failureOf(await outcome('a'))).toContain('invalid usage for client certificate: cert sign');
});

test('writing conditions or a certificate through status takes the right to sign', async () => {
  await ask('a');
  await admin.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'status-writer' },
    rules: [{ verbs: ['*'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/status'] }],
  });
  await admin.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'status-writer' },
    subjects: [{ kind: 'User', name: 'eve' }],
    roleRef: { kind: 'ClusterRole', name: 'status-writer' },
  });
  const transport = inProcessTransport(server.handle, { username: 'eve', groups: [] });
  const eve = createClient({ transport, userAgent: 'eve' });
  const csr = await admin.request<Csr>('GET', `${CSRS}/a`);
  const conditions = [{ type: 'Failed', status: 'True', reason: 'No' }];
  await expect(eve.request('PUT', `${CSRS}/a/status`, { ...csr, status: { conditions } })).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('user not permitted to sign requests with signerName'),
  });
  const certificate = Buffer.from('no certificate').toString('base64');
  await expect(admin.request('PUT', `${CSRS}/a/status`, { ...csr, status: { certificate } })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('at least one CERTIFICATE PEM block'),
  });
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

test('17.12: nobody owns what a request asks for, so that an apply changes nothing and meets no conflict', async () => {
  await ask('owned');
  const made = await admin.request<Csr & { spec: object }>('GET', `${CSRS}/owned`);
  expect(made.metadata).not.toHaveProperty('managedFields');
  const config = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'owned' },
  };
  const applied = await admin.request(
    'PATCH',
    `${CSRS}/owned?fieldManager=other`,
    { ...config, spec: { ...made.spec, usages: ['server auth'] } },
    { 'content-type': 'application/apply-patch+yaml' },
  );
  expect(applied).toMatchObject({ spec: { usages: ['client auth'] } });
});
