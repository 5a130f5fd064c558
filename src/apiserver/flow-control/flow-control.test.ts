import { afterEach, beforeEach, expect, it } from 'vitest';
import { AUTO_UPDATE_SPEC, FLOW_CONTROL_GROUP } from '../../api/flow-control.ts';
import type { FlowSchema, PriorityLevelConfiguration } from '../../api/generated/flowcontrol-v1.ts';
import { builtinType } from '../../api/registry.ts';
import type { ResourceType } from '../../api/resource.ts';
import { type Client, createClient, isInvalid, ManualClock, Metrics, settle } from '../../machinery/runtime/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { IncomingRequest } from '../exchange/exchange.ts';
import { builtinResources } from '../kinds/resources.ts';
import { inProcessTransport } from '../server/in-process.ts';
import { type ApiServer, createApiServer } from '../server/server.ts';
import { bootstrapFlowControl } from './bootstrap.ts';

const schemas = builtinType('FlowSchema', FLOW_CONTROL_GROUP) as ResourceType<FlowSchema>;
const levels = builtinType(
  'PriorityLevelConfiguration',
  FLOW_CONTROL_GROUP,
) as ResourceType<PriorityLevelConfiguration>;
const configMaps = builtinType('ConfigMap');
const metrics = new Metrics();

let server: ApiServer;
let client: Client;
/** ThreadTurns of the event loop that were asked for. */
const pending: (() => void)[] = [];
const clock = new ManualClock();

beforeEach(async () => {
  server = createApiServer({
    store: createMemoryStore(),
    resources: builtinResources(),
    clock,
    flowControl: { metrics, nextTurn: (callback) => void pending.push(callback) },
    access: () => ({
      identify: ({ headers, peer }) =>
        peer.user ?? { username: headers['user'] ?? '', groups: ['system:authenticated', headers['group'] ?? ''] },
      authorizer: { authorize: () => ({ allowed: true }) },
    }),
  });
  client = createClient({ transport: inProcessTransport(server.handle), userAgent: 'test' });
  await client.create(builtinType('Namespace'), { metadata: { name: 'default' } });
  await bootstrapFlowControl(client);
  await settle();
});
afterEach(() => {
  for (const callback of pending.splice(0)) callback();
  server.close();
});

const ask = (user: string, url: string, group = '') =>
  server.handle(
    new IncomingRequest(
      { method: 'GET', url, headers: { user, group }, body: undefined, peer: {} },
      () => new AbortController().signal,
    ),
  );

async function turn(): Promise<boolean> {
  const due = pending.splice(0);
  for (const callback of due) callback();
  await settle();
  return due.length > 0;
}

it('answers the reads of one user while another has 200 lists under way', async () => {
  for (let at = 0; at < 1000; at += 1) {
    await client.create(configMaps, { metadata: { name: `m${at}`, namespace: 'default' } });
  }
  const order: string[] = [];
  const lists = Array.from({ length: 200 }, () =>
    ask('greedy', '/api/v1/configmaps').then(({ status }) => order.push(`list ${status}`)),
  );
  await settle();
  for (let at = 0; at < 10; at += 1) {
    const read = ask('modest', '/api/v1/namespaces/default/configmaps/m7').then(({ status }) => {
      order.push(`get ${status}`);
    });
    // The lists of this turn are begun: the read is among the next.
    await turn();
    await read;
  }
  expect(order.filter((one) => one === 'get 200')).toHaveLength(10);
  expect(order.filter((one) => one === 'list 200').length).toBeLessThan(40);
  while (await turn());
  await Promise.all(lists);
  expect(order.filter((one) => one === 'list 200')).toHaveLength(200);
});

it('refuses with 429, a time to come again and the headers, and counts it', async () => {
  const queuing = { queues: 1, handSize: 1, queueLengthLimit: 1 };
  await client.create(levels, {
    metadata: { name: 'narrow' },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 10, limitResponse: { type: 'Queue', queuing } },
    },
  });
  const rules = [
    {
      subjects: [{ kind: 'User', user: { name: 'crowd' } }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    },
  ];
  const { metadata } = await client.create(schemas, {
    metadata: { name: 'crowd' },
    spec: { priorityLevelConfiguration: { name: 'narrow' }, matchingPrecedence: 50, rules },
  });
  await settle();
  const answers = Array.from({ length: 18 }, () => ask('crowd', '/version'));
  const refused = await (answers[17] as (typeof answers)[number]);
  expect([refused.status, refused.headers['retry-after'], refused.headers['x-kubernetes-pf-flowschema-uid']]).toEqual([
    429,
    '1',
    metadata.uid,
  ]);
  expect(JSON.parse(Buffer.from(refused.body as Uint8Array).toString())).toMatchObject({ reason: 'TooManyRequests' });
  await turn();
  expect((await Promise.all(answers)).filter(({ status }) => status === 200)).toHaveLength(17);
  const text = await metrics.registry.metrics();
  const flow = '{priority_level="narrow",flow_schema="crowd"';
  expect(text).toContain(`apiserver_flowcontrol_rejected_requests_total${flow},reason="queue-full"} 1`);
  expect(text).toContain(`apiserver_flowcontrol_dispatched_requests_total${flow}} 17`);
  expect(text).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 236');
});

it('lets exempt requests and those of this process pass', async () => {
  for (let at = 0; at < 100; at += 1) {
    expect((await ask('admin', '/version', 'system:masters')).status).toBe(200);
    await client.list(configMaps, {});
  }
  expect(pending).toEqual([]);
});

it('says of each schema whether its level exists, and passes over those whose level does not', async () => {
  const dangling = async (name: string) =>
    (await client.get(schemas, { name })).status?.conditions?.find(({ type }) => type === 'Dangling');
  expect(await dangling('catch-all')).toMatchObject({ status: 'False', reason: 'Found' });
  const rules = [
    {
      subjects: [{ kind: 'Group', group: { name: '*' } }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    },
  ];
  const spec = { priorityLevelConfiguration: { name: 'later' }, matchingPrecedence: 3, rules };
  const made = await client.create(schemas, { metadata: { name: 'x' }, spec });
  await settle();
  expect(await dangling('x')).toMatchObject({
    status: 'True',
    reason: 'NotFound',
    message:
      'This FlowSchema references the PriorityLevelConfiguration object named "later" but there is no such object',
  });
  const uidOf = async () => (await ask('jane', '/version')).headers['x-kubernetes-pf-flowschema-uid'];
  expect(await uidOf()).toBe((await client.get(schemas, { name: 'global-default' })).metadata.uid);
  const limited = { limitResponse: { type: 'Reject' } };
  await client.create(levels, { metadata: { name: 'later' }, spec: { type: 'Limited', limited } });
  await settle();
  expect(await dangling('x')).toMatchObject({ status: 'False', reason: 'Found' });
  expect(await uidOf()).toBe(made.metadata.uid);
});

it('brings back defaults that were deleted or changed, but for those that somebody marked as theirs', async () => {
  await client.delete(schemas, { name: 'exempt' });
  await client.delete(levels, { name: 'workload-low' });
  const change = (name: string, shares: number, mark?: string) =>
    client.patch(
      levels,
      { name },
      {
        type: 'merge',
        body: {
          spec: { limited: { nominalConcurrencyShares: shares } },
          ...(mark && { metadata: { annotations: { [AUTO_UPDATE_SPEC]: mark } } }),
        },
      },
    );
  await change('system', 77);
  await change('node-high', 78, 'false');
  await settle();
  expect((await ask('admin', '/version', 'system:masters')).status).toBe(200);
  await bootstrapFlowControl(client);
  const sharesOf = async (name: string) => (await client.get(levels, { name })).spec?.limited?.nominalConcurrencyShares;
  expect([await sharesOf('system'), await sharesOf('node-high'), await sharesOf('workload-low')]).toEqual([
    30, 78, 100,
  ]);
  expect((await client.get(schemas, { name: 'exempt' })).metadata.uid).toBeDefined();
  const before = server.context.store.revision;
  await settle();
  await bootstrapFlowControl(client);
  expect(server.context.store.revision - before).toBeLessThanOrEqual(1);
});

it.each([
  [schemas, 'exempt', { spec: { matchingPrecedence: 5 } }, "spec of 'exempt' must equal the fixed value"],
  [schemas, 'probes', { spec: { matchingPrecedence: 1 } }, "only the schema named 'exempt'"],
  [schemas, 'probes', { spec: { rules: [{ subjects: [] }] } }, 'spec.rules[0].subjects: Required value'],
  [schemas, 'probes', { spec: { distinguisherMethod: { type: 'x' } } }, 'supported values: "ByNamespace", "ByUser"'],
  [levels, 'exempt', { spec: { type: 'Limited' } }, "must be 'Exempt' if and only if"],
  [levels, 'system', { spec: { limited: { lendablePercent: 101 } } }, 'must be between 0 and 100, inclusive'],
  [
    levels,
    'system',
    { spec: { limited: { limitResponse: { queuing: { handSize: 20 } } } } },
    'required entropy bits of deckSize 64 and handSize 20 should not be greater than 60',
  ],
])('refuses what the rules of %o do not allow: %s %j', async (type, name, body, message) => {
  const change = client.patch(type as ResourceType<FlowSchema>, { name }, { type: 'merge', body });
  await expect(change).rejects.toSatisfy(isInvalid);
  await expect(change).rejects.toThrow(message);
});
