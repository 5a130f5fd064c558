import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtinType } from '../../api/registry.ts';
import type { ApiError } from '../../machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';

let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane();
});
afterEach(() => plane.stop());

const containers = [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }];
const PODS = '/api/v1/namespaces/default/pods';

async function refusal(path: string, body: object): Promise<ApiError['status']> {
  const failed = (await plane.client.request('POST', path, body).then(
    () => undefined,
    (error: unknown) => error,
  )) as ApiError | undefined;
  if (failed === undefined) throw new Error('the request was not refused');
  return failed.status;
}

const pod = (spec: object = {}) => ({ metadata: { generateName: 'web-' }, spec: { containers, ...spec } });
const GENERATED = /web-[a-z0-9]{5}/;

test('6: what mutating admission refuses is named by the start of its name, as nothing is generated yet', async () => {
  const { details, message } = await refusal(PODS, pod({ priorityClassName: 'none' }));
  expect(message).toBe('pods "web-" is forbidden: no PriorityClass with name none was found');
  expect(details?.name).toBe('web-');
});

test('6: what a terminating namespace refuses is named by the start of its name', async () => {
  const { client } = plane;
  await client.create(builtinType('Namespace'), { metadata: { name: 'going' } });
  const held = { metadata: { name: 'hold', finalizers: ['a.b/c'] } };
  await client.request('POST', '/api/v1/namespaces/going/configmaps', held);
  await client.request('DELETE', '/api/v1/namespaces/going');
  const { message } = await refusal('/api/v1/namespaces/going/pods', pod());
  expect(message).toMatch(/^pods "web-" is forbidden: unable to create new content in namespace going/);
});

test('6: what a quota or a limit refuses is named by the name it would have had', async () => {
  const { client } = plane;
  const limits = [{ type: 'Container', max: { cpu: '100m' } }];
  await client.request('POST', '/api/v1/namespaces/default/limitranges', { metadata: { name: 'l' }, spec: { limits } });
  const limited = await refusal(PODS, pod());
  expect(limited.message).toMatch(/^pods "web-[a-z0-9]{5}" is forbidden: maximum cpu usage/);
  expect(limited.details?.name).toMatch(GENERATED);
  await client.request('DELETE', '/api/v1/namespaces/default/limitranges/l');
  const quota = { metadata: { name: 'q' }, spec: { hard: { pods: '0' } }, status: { hard: { pods: '0' } } };
  await client.request('POST', '/api/v1/namespaces/default/resourcequotas', quota);
  await client.request('PUT', '/api/v1/namespaces/default/resourcequotas/q/status', {
    ...quota,
    status: { hard: { pods: '0' }, used: { pods: '0' } },
  });
  const charged = await refusal(PODS, pod());
  expect(charged.message).toMatch(/^pods "web-[a-z0-9]{5}" is forbidden: exceeded quota: q/);
});

test('6: a start that no name can begin with is refused beside the name', async () => {
  const { details } = await refusal('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'Bad_' } });
  expect(details?.causes?.map(({ field }) => field)).toEqual(['metadata.generateName', 'metadata.name']);
  const created = (await plane.client.request('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { generateName: 'good-' },
  })) as { metadata: { name: string } };
  expect(created.metadata.name).toMatch(/^good-[a-z0-9]{5}$/);
});
