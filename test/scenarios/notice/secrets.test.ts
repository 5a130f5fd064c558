/** Secrets that headers of calls come from: which may be read, and what a policy says where they cannot be. */
import { afterEach, expect, test } from 'vitest';
import { disruptionPolicyType } from '../../../src/api/quorate/disruption-policy.ts';
import { builtinType } from '../../../src/api/registry.ts';
import { namespaceType, secretType } from '../../../src/api/resource-types.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { defaultInstall, installObjects, NOTICE_ACCESS } from '../../../src/webhook/index.ts';
import { namespace, Told } from './fixture.ts';

let stop: () => Promise<void>;
afterEach(() => stop());

const headers = (optional?: boolean) => [
  {
    name: 'Authorization',
    valueFrom: { secretKeyRef: { name: 'saver', key: 'token', ...(optional && { optional }) } },
  },
];
const noticeWith = (optional?: boolean) => ({
  duration: '60s',
  channels: [{ type: 'HTTP' as const, http: { host: 'saver.ml.svc', port: 8443, httpHeaders: headers(optional) } }],
});

test('3.5: a policy says that a Secret is missing which a header comes from, and when it is there', async () => {
  const told = await Told.start(undefined, { gangs: 1, size: 1, nodes: 2 });
  stop = () => told.world.stop();
  await told.policy('needs', noticeWith());
  await told.policy('may-need', noticeWith(true));
  const ready = async (name: string) => {
    const { status } = await told.client.get(disruptionPolicyType, { namespace, name });
    const { message, reason, status: is } = status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
    return [is, reason, message];
  };
  await told.world.pass(2);
  const missing = 'Secret default/saver, which a header comes from, is not there';
  expect(await ready('needs')).toEqual(['False', 'SecretMissing', missing]);
  expect(await ready('may-need')).toEqual(['True', 'Counting', '1 groups are selected']);
  await told.client.create(secretType, { metadata: { name: 'saver', namespace }, data: { other: 'eA==' } });
  await told.world.pass(61);
  expect((await ready('needs'))[2]).toBe('Secret default/saver, which a header comes from, has no key token');
  const data = { token: Buffer.from('Bearer x').toString('base64') };
  await told.client.patch(secretType, { namespace, name: 'saver' }, { type: 'merge', body: { data } });
  await told.world.pass(61);
  expect((await ready('needs')).slice(0, 2)).toEqual(['True', 'Counting']);
});

test('9: the operator reads the Secrets that were named for it, and no others', async () => {
  const plane: ControlPlane = await startControlPlane({ port: 0 });
  stop = () => plane.stop();
  for (const name of ['ml', 'web']) {
    await plane.client.create(namespaceType, { metadata: { name } });
    for (const secret of ['saver', 'private'])
      await plane.client.create(secretType, { metadata: { name: secret, namespace: name } });
  }
  const objects = installObjects({ ...defaultInstall, noticeSecrets: ['ml/saver'] });
  for (const object of objects.filter(({ kind = '' }) => /^(Cluster)?Role(Binding)?$/.test(kind))) {
    const { kind = '', metadata } = object;
    if (metadata.namespace === defaultInstall.namespace) continue;
    await plane.client.create(builtinType(kind, 'rbac.authorization.k8s.io'), object);
  }
  const operator = plane.clientFor(`system:serviceaccount:${defaultInstall.namespace}:quorate`);
  const read = (place: string, name: string) =>
    operator.get(secretType, { namespace: place, name }).then(
      () => 200,
      (error: unknown) => (error instanceof ApiError ? error.code : 0),
    );
  expect(await read('ml', 'saver')).toBe(200);
  expect([await read('ml', 'private'), await read('web', 'saver')]).toEqual([403, 403]);
  const list = operator.list(secretType, { namespace: 'ml' }).then(
    () => 200,
    (error: unknown) => (error instanceof ApiError ? error.code : 0),
  );
  expect(await list).toBe(403);
  const without = installObjects({ ...defaultInstall, noticeSecrets: ['ml/saver'], groupEvictions: false });
  expect(without.some(({ metadata }) => metadata.name === NOTICE_ACCESS)).toBe(false);
});
