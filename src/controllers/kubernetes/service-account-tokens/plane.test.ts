import { afterEach, expect, test } from 'vitest';
import type { Secret } from '../../../api/generated/core-v1.ts';
import { secretType, serviceAccountType } from '../../../api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../../testkit/index.ts';
import { createServiceAccountTokenController } from './index.ts';

let plane: ControlPlane | undefined;
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
});

const namespace = 'default';
const NAME = 'kubernetes.io/service-account.name';
const UID = 'kubernetes.io/service-account.uid';

async function start(): Promise<ControlPlane> {
  const issue = ({ account, secret }: { account: { name: string }; secret: string }) => `${account.name} by ${secret}`;
  plane = await startControlPlane({ controllers: [createServiceAccountTokenController({ authority: 'CA', issue })] });
  return plane;
}
const account = { metadata: { namespace, name: 'robot' } };
const secret = (over: Partial<Secret> = {}): Secret => ({
  metadata: { namespace, name: 'token', annotations: { [NAME]: 'robot' } },
  type: 'kubernetes.io/service-account-token',
  ...over,
});
const key = { namespace, name: 'token' };
const names = async ({ client }: ControlPlane): Promise<(string | undefined)[]> =>
  (await client.list(secretType, { namespace })).items.map(({ metadata }) => metadata.name);
const text = (data: Secret['data'], field: string) => Buffer.from(data?.[field] ?? '', 'base64').toString();

test('18: a Secret that asks for the token of an account is filled, and says which account it is', async () => {
  const running = await start();
  const { client } = running;
  const made = await client.create(serviceAccountType, account);
  await client.create(secretType, secret({ data: { extra: 'YQ==' } }));
  await running.settle();
  const filled = await client.get(secretType, key);
  expect(filled.metadata.annotations).toEqual({ [NAME]: 'robot', [UID]: made.metadata.uid });
  expect(text(filled.data, 'token')).toBe('robot by token');
  expect(text(filled.data, 'ca.crt')).toBe('CA');
  expect(text(filled.data, 'namespace')).toBe('default');
  expect(text(filled.data, 'extra')).toBe('a');
  await client.patch(secretType, key, { type: 'merge', body: { data: { token: 'b3du', 'ca.crt': null } } });
  await running.settle();
  const again = await client.get(secretType, key);
  expect([text(again.data, 'token'), text(again.data, 'ca.crt')]).toEqual(['own', 'CA']);
});

test('18: it goes with its account, and does not pass to one of the same name', async () => {
  const running = await start();
  const { client } = running;
  await client.create(serviceAccountType, account);
  await client.create(secretType, secret());
  await client.create(secretType, { metadata: { namespace, name: 'other' } });
  await running.settle();
  await client.delete(serviceAccountType, { namespace, name: 'robot' });
  await client.create(serviceAccountType, account);
  await running.settle();
  expect(await names(running)).toEqual(['other']);
});

test('18: one for an account that is not there goes at once', async () => {
  const running = await start();
  await running.client.create(secretType, secret());
  await running.settle();
  expect(await names(running)).toEqual([]);
});

test('18: a Secret that is gone is taken from the list of its account', async () => {
  const running = await start();
  const { client } = running;
  await client.create(serviceAccountType, { ...account, secrets: [{ name: 'token' }, { name: 'kept' }] });
  await client.create(secretType, secret());
  await running.settle();
  await client.delete(secretType, key);
  await running.settle();
  const left = await client.get(serviceAccountType, { namespace, name: 'robot' });
  expect(left.secrets).toEqual([{ name: 'kept' }]);
});

test('18: a Secret of this type must say which account it is for', async () => {
  const running = await start();
  const nobody = secret({ metadata: { namespace, name: 'token' } });
  await expect(running.client.create(secretType, nobody)).rejects.toThrow(
    'metadata.annotations[kubernetes.io/service-account.name]: Required value',
  );
});
