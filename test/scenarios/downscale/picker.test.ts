import { afterEach, expect, test } from 'vitest';
import type { DownscalePodPicker } from '../../../src/api/generated/apps-v1.ts';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import { deploymentType, podType, replicaSetType, secretType } from '../../../src/api/resource-types.ts';
import { builtinResources } from '../../../src/apiserver/index.ts';
import { FeatureGates, type Logger } from '../../../src/machinery/runtime/index.ts';
import { deployment, replicaSet } from '../../../src/testkit/index.ts';
import { answering, HttpPicker, type Reply } from './http-picker.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

let world: World | undefined;
const pickers: HttpPicker[] = [];
afterEach(async () => {
  await world?.stop();
  world = undefined;
  for (const picker of pickers.splice(0)) picker.close();
});

async function start(options: WorldOptions = {}): Promise<World> {
  world = await startWorld(options);
  return world;
}

async function picker(reply: Reply): Promise<HttpPicker> {
  const made = await new HttpPicker(reply).listen();
  pickers.push(made);
  return made;
}

/** A ReplicaSet of Ready pods on alternating nodes, and their names in order. */
async function workers(w: World, replicas: number, field: DownscalePodPicker): Promise<string[]> {
  const spec = { downscalePodPicker: field };
  await w.client.create(replicaSetType, replicaSet({ name: 'web', replicas, spec }));
  await w.settle();
  await w.bringAll();
  return (await w.alive()).sort();
}

/** Changes the number and does not wait for what comes of it. */
const askFor = (w: World, replicas: number) =>
  w.client.patch(
    replicaSetType,
    { namespace: 'default', name: 'web' },
    { type: 'merge', body: { spec: { replicas } } },
  );
const shrink = (w: World, replicas: number) => w.scale(replicaSetType, 'web', replicas);
const reasons = async (w: World, name = 'web') => (await w.events(name)).map(({ reason }) => reason);
const choose = (pick: (names: readonly string[]) => object) => answering(({ candidates }) => pick(candidates));

test('K1 the application decides which Ready pods go', async () => {
  const w = await start();
  const service = await picker(choose((names) => ({ chosen_pods: [names[2]], tied_pods: [names[0]] })));
  const names = await workers(w, 5, service.field());
  await shrink(w, 3);
  expect(service.asked).toMatchObject([{ count: 2, candidates: names }]);
  expect((await w.alive()).sort()).toEqual([names[1], names[3], names[4]]);
  expect(await reasons(w)).not.toContain('DownscalePodPickerFailed');
});

test('K3 unready pods go first and are not asked about', async () => {
  const w = await start();
  const service = await picker(choose((names) => ({ chosen_pods: [names.at(-1)] })));
  const names = await workers(w, 5, service.field());
  const [unready = '', ...ready] = names;
  await w.bring(unready, { ready: false });
  await w.settle();
  await shrink(w, 3);
  expect(service.asked).toMatchObject([{ count: 1, candidates: ready }]);
  expect((await w.alive()).sort()).toEqual(ready.slice(0, 3));
});

test('K4 K5 no call when enough pods are unready, nor when all go', async () => {
  const w = await start();
  const service = await picker(choose(() => ({ chosen_pods: [] })));
  const names = await workers(w, 4, service.field());
  for (const name of names.slice(0, 2)) await w.bring(name, { ready: false });
  await w.settle();
  await shrink(w, 2);
  expect((await w.alive()).sort()).toEqual(names.slice(2));
  await shrink(w, 0);
  expect(await w.alive()).toEqual([]);
  expect(service.asked).toEqual([]);
});

test('K6 K19 a deletion cost outranks the choice, and the call is made all the same', async () => {
  const w = await start();
  const service = await picker(choose((names) => ({ chosen_pods: [names[0]] })));
  const names = await workers(w, 3, service.field());
  await w.client.patch(
    podType,
    { namespace: 'default', name: names[0] ?? '' },
    {
      type: 'merge',
      body: { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '100' } } },
    },
  );
  await w.settle();
  await shrink(w, 1);
  expect(service.asked).toHaveLength(1);
  expect(await w.alive()).toEqual([names[0]]);
});

test('K7 a picker that hangs holds the downscale no longer than its time', async () => {
  const w = await start();
  const service = await picker(() => {});
  await workers(w, 4, service.field());
  await askFor(w, 2);
  await w.until(() => service.asked.length === 1);
  await w.clock.advance(999);
  expect(await w.alive()).toHaveLength(4);
  await w.advance(1);
  expect(await w.alive()).toHaveLength(2);
  expect(await w.events('web')).toContainEqual({
    reason: 'DownscalePodPickerFailed',
    message:
      'Pod picker gave no usable answer: DeadlineExceeded [F1] after 1 attempt; pods are removed without its choice',
  });
});

test.each([
  ['K10 refuses', (response) => response.writeHead(401).end('{"chosen_pods":["hidden text"]}'), 'Refused [F4]'],
  ['K10 redirects', (response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(), 'Redirected [F5]'],
  ['answers 500', (response) => response.writeHead(500).end('hidden text'), 'ServerError [F3]'],
  ['K11 answers 10 MB', (response) => response.end('x'.repeat(10_000_000)), 'AnswerTooLarge [F7]'],
  ['K12 answers nonsense', (response) => response.end('hidden text'), 'MalformedAnswer [F6]'],
  ['closes the socket', (response) => response.destroy(), 'ConnectionFailed [F2]'],
] satisfies [string, Reply, string][])(
  'a picker that %s changes nothing but the order',
  async (_name, reply, failure) => {
    const w = await start();
    const service = await picker(reply);
    const names = await workers(w, 4, service.field());
    await w.bring(names[3] ?? '', { restarts: 9, readySince: w.clock.now() });
    await w.settle();
    await shrink(w, 3);
    expect((await w.alive()).sort()).toEqual(names.slice(0, 3));
    const events = await w.events('web');
    expect(events.map(({ message }) => message).join('\n')).toContain(failure);
    expect(JSON.stringify(events)).not.toContain('hidden text');
    expect((await w.replicaSet('web')).status?.conditions ?? []).toEqual([]);
  },
);

test('K9 a picker that answers 500 once is asked again', async () => {
  const w = await start();
  const service = await picker((response, asked, attempt) =>
    attempt === 1
      ? response.writeHead(500).end()
      : choose((names) => ({ chosen_pods: [names[1]] }))(response, asked, 2),
  );
  const names = await workers(w, 3, service.field({ maxRetries: 3 }));
  await askFor(w, 2);
  await w.until(() => service.asked.length === 1);
  await w.until(() => (w.clock.nextDue ?? Number.POSITIVE_INFINITY) <= w.clock.now() + 50);
  await w.clock.advance(50);
  await w.until(() => service.asked.length === 2);
  await w.settle();
  expect((await w.alive()).sort()).toEqual([names[0], names[2]]);
});

async function rolledDeployment(w: World, field: DownscalePodPicker | undefined, nodes: readonly string[]) {
  const spec = field === undefined ? {} : { downscalePodPicker: field };
  await w.client.create(deploymentType, deployment({ name: 'web', replicas: nodes.length, spec }));
  await w.settle();
  const names = (await w.alive()).sort();
  for (const [index, name] of names.entries()) await w.bring(name, { node: nodes[index] ?? '', restarts: index });
  await w.settle();
  return names;
}

test.each([
  { chosen_pods: [], tied_pods: [] },
  { chosen_pods: null, tied_pods: [] },
])('K13 an answer without opinion leaves it to colocation: %j', async (answer) => {
  const w = await start();
  const service = await picker(choose(() => answer));
  const names = await rolledDeployment(w, service.field(), ['n1', 'n1', 'n2']);
  await w.scale(deploymentType, 'web', 2);
  expect(service.asked).toHaveLength(1);
  expect((await w.alive()).sort()).toEqual([names[0], names[2]]);
  expect(await w.events(names[0] ?? '')).toEqual([]);
});

test('K29 after a failure colocation has no say', async () => {
  const w = await start();
  const service = await picker((response) => response.destroy());
  const names = await rolledDeployment(w, service.field(), ['n1', 'n1', 'n2']);
  await w.scale(deploymentType, 'web', 2);
  expect((await w.alive()).sort()).toEqual([names[0], names[1]]);
});

test('D18 D20 without a picker the crowded node loses a pod', async () => {
  const w = await start();
  const names = await rolledDeployment(w, undefined, ['n1', 'n1', 'n2']);
  await w.scale(deploymentType, 'web', 2);
  expect((await w.alive()).sort()).toEqual([names[0], names[2]]);
});

test('K14 names that were not asked about are ignored, counted and reported without saying them', async () => {
  const w = await start();
  const service = await picker(
    choose((names) => ({ chosen_pods: ['stranger', 'web-unready'], tied_pods: [names[0]] })),
  );
  const names = await workers(w, 3, service.field());
  await shrink(w, 2);
  expect((await w.alive()).sort()).toEqual(names.slice(1));
  expect(await w.events('web')).toContainEqual({
    reason: 'DownscalePodPickerInvalidPods',
    message: 'Pod picker named 2 pods that it was not asked about; ignored',
  });
  expect(await w.metrics.registry.metrics()).toContain('quorate_downscale_picker_ignored_names_total 2');
});

const secretHeader = (name: string, optional = false) => [
  { name: 'X-Token', valueFrom: { secretKeyRef: { name, key: 'token', optional } } },
];

/** Keeps every line, down to the most detailed. */
function keepingLogger(lines: string[]): Logger {
  const keep = (fields: object, message: string): void => {
    lines.push(JSON.stringify({ ...fields, message }));
  };
  return { debug: keep, info: keep, warn: keep, error: keep, child: () => keepingLogger(lines) };
}

test('K17 K30 a header comes from a secret of the namespace, and shows nowhere else, nor does what was answered', async () => {
  const lines: string[] = [];
  const w = await start({ log: keepingLogger(lines) });
  await w.client.create(secretType, {
    metadata: { name: 'auth', namespace: 'default' },
    data: { token: Buffer.from('s3cr3t-value').toString('base64') },
  });
  const service = await picker((response) => response.writeHead(403).end('answered-text'));
  const http = { ...service.field().http, host: '127.0.0.1', port: service.port, httpHeaders: secretHeader('auth') };
  await workers(w, 3, { ...service.field(), http });
  await shrink(w, 2);
  expect(service.asked[0]?.headers['x-token']).toBe('s3cr3t-value');
  const shown = [await w.events('web'), await w.replicaSet('web'), await w.metrics.registry.metrics(), lines];
  expect(lines.join()).toContain('removing pods');
  expect(JSON.stringify(shown)).not.toMatch(/s3cr3t-value|answered-text/);
});

test.each([
  [false, 0, true],
  [true, 1, false],
])('K17 with a missing secret, optional %s: %i calls', async (optional, calls, failed) => {
  const w = await start();
  const service = await picker(choose((names) => ({ chosen_pods: [names[0]] })));
  const http = { host: '127.0.0.1', port: service.port, httpHeaders: secretHeader('absent', optional) };
  await workers(w, 3, { ...service.field(), http });
  await shrink(w, 2);
  expect(service.asked).toHaveLength(calls);
  expect(await w.alive()).toHaveLength(2);
  expect((await reasons(w)).includes('DownscalePodPickerFailed')).toBe(failed);
});

test('K18 by default a picker on loopback is not called', async () => {
  const w = await start({ pickerAddresses: {} });
  const service = await picker(choose((names) => ({ chosen_pods: names })));
  await workers(w, 3, service.field());
  await shrink(w, 2);
  expect(service.asked).toEqual([]);
  expect(await w.alive()).toHaveLength(2);
  expect(JSON.stringify(await w.events('web'))).toContain('AddressForbidden [F17]');
});

test('K26 a rolling update asks the picker about the old ReplicaSet', async () => {
  const w = await start();
  const service = await picker(choose((names) => ({ chosen_pods: [names.at(-1)] })));
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } };
  const spec = { downscalePodPicker: service.field(), strategy };
  await w.client.create(deploymentType, deployment({ name: 'web', replicas: 5, spec }));
  await w.settle();
  await w.bringAll();
  const names = (await w.alive()).sort();
  const containers = [{ name: 'main', image: 'next' }];
  await w.client.patch(
    deploymentType,
    { namespace: 'default', name: 'web' },
    {
      type: 'merge',
      body: { spec: { template: { spec: { containers } } } },
    },
  );
  await w.settle();
  expect(service.asked).toMatchObject([{ count: 2, candidates: names }]);
  expect(await w.alive()).not.toContain(names.at(-1));
});

test('K27 a downscale beyond the burst asks once per round', async () => {
  const w = await start({ burst: 50 });
  const service = await picker(answering(({ candidates, count }) => ({ chosen_pods: candidates.slice(0, count) })));
  const names = await workers(w, 120, service.field());
  await shrink(w, 10);
  expect(service.asked.map(({ count }) => count)).toEqual([50, 50, 10]);
  expect((await w.alive()).sort()).toEqual(names.slice(110));
});

test('K28 with the gate off a stored picker is ignored and a new one cannot be set', async () => {
  const gates = new FeatureGates({ DownscalePodPicker: false });
  const service = await picker(choose((names) => ({ chosen_pods: names })));
  const w = await start({ gates });
  await workers(w, 3, service.field());
  expect((await w.replicaSet('web')).spec?.downscalePodPicker).toBeDefined();
  await shrink(w, 2);
  expect(service.asked).toEqual([]);
  await w.stop();
  const gated = builtinResources(gates).filter(({ group }) => group === 'apps');
  const second = await start({
    gates,
    extend({ registry }) {
      for (const row of gated) registry.replace(registry.byKind(row.group, row.kind) ?? row, row);
    },
  });
  await workers(second, 1, service.field());
  expect((await second.replicaSet('web')).spec).not.toHaveProperty('downscalePodPicker');
});

test('F18 a shutdown during a call deletes nothing', async () => {
  const w = await start();
  const service = await picker(() => {});
  await workers(w, 3, service.field());
  await askFor(w, 1);
  await w.until(() => service.asked.length === 1);
  w.components.stop();
  await w.clock.advance(60_000);
  expect(await w.alive()).toHaveLength(3);
});

test('200 ReplicaSets scale while one picker hangs', async () => {
  const w = await start();
  const service = await picker(() => {});
  await workers(w, 3, service.field({ timeoutSeconds: 30 }));
  await askFor(w, 1);
  await w.until(() => service.asked.length === 1);
  for (let index = 0; index < 200; index += 1) {
    await w.client.create(replicaSetType, replicaSet({ name: `other-${index}`, replicas: 1 }));
  }
  const others = ({ metadata }: Pod): boolean => metadata.labels?.app !== 'web';
  await w.until(async () => (await w.pods()).filter(others).length === 200);
  expect(await w.alive('app=web')).toHaveLength(3);
  await w.advance(30_000);
  expect(await w.alive('app=web')).toHaveLength(1);
});
