/**
 * Groups made for JobSets and LeaderWorkerSets on a cluster that serves the kinds itself, and a group of a
 * LeaderWorkerSet that starts anew under a budget which must keep the other.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isPodReady } from '../../src/api/core/pod-state.ts';
import { OWN_KINDS } from '../../src/api/crds/index.ts';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { kruiseLeaderWorkerSetType, type LeaderWorkerSet, leaderWorkerSetType, LWS } from '../../src/api/lws/types.ts';
import { groupEvictionType } from '../../src/api/quorate/group-eviction.ts';
import { apiVersionOf, type ResourceType } from '../../src/api/resource.ts';
import { podType } from '../../src/api/resource-types.ts';
import { podGroupType, storedPodGroup, type StoredPodGroup } from '../../src/api/scheduling/index.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { type Client, Informer, silentLogger, systemClock } from '../../src/machinery/runtime/index.ts';
import { START_DELAY } from '../../src/nodes/index.ts';
import { emptyConfigurations, URL_ANNOTATION } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import { codeOf, evict } from '../shared/answers.ts';
import { budget, budgetsOn, markerOf } from './gangs.ts';
import { actAsSetController, jobSetDefinition, LEADER_MARKS, makeJobs, type SetController } from './set-controllers.ts';
import * as stage from './stage.ts';

const { NAMESPACE, until } = stage;
const namespace = 'default';
let plane: RealControlPlane;
let client: Client;
let nodes: NodesHost;
let operator: Operator;
let sets: SetController;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const apply = (...objects: object[]): Promise<void> => stage.apply(plane, ...objects);
const { read, shows } = budgetsOn(() => plane);

beforeAll(async () => {
  plane = await stage.startPlane();
  client = createNetworkClient(plane, 'quorate-test');
  await stage.prepareCluster(plane);
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 3 } });
  const spellings: readonly ResourceType[] = [leaderWorkerSetType, kruiseLeaderWorkerSetType] as ResourceType[];
  const definitions = OWN_KINDS.filter(({ type }) => spellings.includes(type)).map(({ definition }) => definition);
  await apply(...definitions, jobSetDefinition, ...LEADER_MARKS);
  await until('the kinds to be served', async () => {
    await kubectl('get', 'jobsets,leaderworkersets.leaderworkerset.x-k8s.io,leaderworkersets.apps.kruise.io');
    return true;
  });
  // The operator looks for them as it starts.
  operator = await stage.startReplica(plane, 'first', 'adopt');
  const at = { [URL_ANNOTATION]: `https://127.0.0.1:${operator.webhookPort}` };
  const empty = emptyConfigurations({ namespace: NAMESPACE, certManager: false });
  await apply(
    ...empty.map((one) => ({
      ...one,
      metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, ...at } },
    })),
  );
  await until('the replica to be asked about owners', async () =>
    (await kubectl('get', 'validatingwebhookconfiguration', 'quorate', '-o', 'jsonpath={.webhooks[*].name}')).includes(
      'owners.quorate.dev',
    ),
  );
  sets = await actAsSetController(client);
});

afterAll(async () => {
  sets?.stop();
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const ASKS = { 'groups.quorate.dev/create': 'true' };
const template = (app: string, more: object = {}) => ({
  metadata: { labels: { app } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }],
    ...more,
  },
});

const podsOf = async (app: string): Promise<readonly Pod[]> =>
  (await client.list(podType, { namespace, labelSelector: `app=${app}` })).items;
const ready = (app: string, count: number): Promise<void> =>
  until(`${count} pods of ${app} to be Ready`, async () => {
    const pods = await podsOf(app);
    return pods.length === count && pods.every(isPodReady);
  });
const groupOf = ({ spec }: Pod): string => spec?.schedulingGroup?.podGroupName ?? '';

/** Those made for a name, as the newest version spells them. */
async function groupsOf(name: string): Promise<StoredPodGroup[]> {
  const { items } = await client.list(podGroupType(stage.groupVersion), { namespace });
  return items
    .filter(({ metadata }) => metadata.name?.startsWith(`${name}-`))
    .map((one) => storedPodGroup(one as never, stage.groupVersion));
}

test('GC-03 a JobSet of two replicated Jobs gets a PodGroup for each of its Jobs', async () => {
  const job = (name: string, replicas: number, parallelism: number) => ({
    name,
    replicas,
    template: {
      spec: {
        parallelism,
        completions: parallelism,
        completionMode: 'Indexed',
        template: template('train', { restartPolicy: 'Never' }),
      },
    },
  });
  await apply({
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'train', namespace, annotations: ASKS },
    spec: { replicatedJobs: [job('driver', 1, 1), job('workers', 2, 2)] },
  });
  const jobs = await makeJobs(client, 'train');
  await ready('train', 5);
  const found = await groupsOf('train');
  const terms = found.map(({ spec }) => `${spec.workloadRef?.templateName} ${spec.schedulingPolicy?.gang?.minCount}`);
  expect(terms.toSorted()).toEqual(['driver 1', 'workers 2', 'workers 2']);
  const owners = new Map(found.map(({ metadata }) => [metadata.name, metadata.ownerReferences?.[0]?.name]));
  expect(new Set(owners.values())).toEqual(new Set(jobs.map(({ metadata }) => metadata.name)));
  // Each pod is in the group of its own Job.
  for (const pod of await podsOf('train'))
    expect(owners.get(groupOf(pod))).toBe(pod.metadata.ownerReferences?.[0]?.name);
  const workload = found[0]?.spec.workloadRef?.workloadName ?? '';
  const templates = 'jsonpath={.metadata.ownerReferences[*].kind}/{.spec.podGroupTemplates[*].name}';
  expect(await kubectl('get', 'workload', workload, '-o', templates)).toBe('JobSet/driver workers');
});

const SPELLINGS = [
  ['native', leaderWorkerSetType, { leaderWorkerTemplate: { size: 4, workerTemplate: template('native') } }],
  ['kruise', kruiseLeaderWorkerSetType, { size: 4, workerTemplate: template('kruise') }],
] as unknown as readonly (readonly [string, ResourceType, object])[];

for (const [name, type, spec] of SPELLINGS) {
  test(`GC-04 a LeaderWorkerSet of ${type.group}, 3 replicas of 4: 3 groups, and a budget counts 3`, async () => {
    const metadata = { name, namespace, annotations: ASKS };
    await apply({ apiVersion: apiVersionOf(type), kind: type.kind, metadata, spec: { replicas: 3, ...spec } });
    await sets.make({ type, name, replicas: 3, size: 4, template: template(name) as never });
    await ready(name, 12);
    const found = (await groupsOf(name)).map(({ metadata: { labels, name: own }, spec: terms }) => ({
      index: labels?.[LWS.groupIndex],
      minCount: terms.schedulingPolicy?.gang?.minCount,
      own,
    }));
    expect(new Set(found.map(({ index }) => index))).toEqual(new Set(['0', '1', '2']));
    expect(found.map(({ minCount }) => minCount)).toEqual([4, 4, 4]);
    for (const { index, own } of found) {
      const members = (await podsOf(name)).filter((pod) => groupOf(pod) === own);
      expect(members.map((pod) => pod.metadata.labels?.[LWS.groupIndex])).toEqual([index, index, index, index]);
    }
    await apply(budget(name, { maxUnavailable: 1 }));
    await shows(name, '12/12/8/4');
    expect(markerOf(await read(name))?.message).toMatch(/^3 of 3 groups are available, 2 must stay/);
  });
}

/** Two hundred take a quarter of an hour: `npm run test:group-restarts`. */
const ROUNDS = Number(process.env['QUORATE_RESTART_ROUNDS'] ?? 3);
const CLIENTS = 3;
const SIZE = 3;

/** Says of every pod that goes how many members of the other group were Ready then; pods come in order. */
async function watchGroups() {
  const members = new Map<string, string>();
  const wholeWhenGone = new Map<string, number>();
  const abort = new AbortController();
  const watching = { clock: systemClock, log: silentLogger, namespace, labelSelector: 'app=chat' };
  const informer = new Informer<Pod>({ client, type: podType, ...watching });
  const readyIn = (group: string): number => [...members.values()].filter((one) => one === group).length;
  const see = (pod: Pod, isGone = false): void => {
    const { deletionTimestamp, labels, name = '', uid = '' } = pod.metadata;
    const group = labels?.[LWS.groupIndex] ?? '';
    const stays = !isGone && deletionTimestamp === undefined;
    if (stays && isPodReady(pod)) members.set(name, group);
    else members.delete(name);
    if (!stays && !wholeWhenGone.has(uid)) wholeWhenGone.set(uid, readyIn(group === '0' ? '1' : '0'));
  };
  informer.addHandler({ added: (pod) => see(pod), updated: (pod) => see(pod), deleted: (pod) => see(pod, true) });
  informer.start(abort.signal);
  await informer.whenSynced();
  return { readyIn, wholeWhenGone, stop: () => abort.abort(new Error('the suite is over')) };
}

test(
  `GR-21 in ${ROUNDS} restarts of a group no pod of the other is granted before it is whole again`,
  async () => {
    const text = readFileSync(new URL('../../examples/gangs/serving.yaml', import.meta.url), 'utf8');
    const [example] = parseAllDocuments(text).map((document) => document.toJS() as LeaderWorkerSet);
    const started = template('chat', { terminationGracePeriodSeconds: 1 });
    const members = { ...started, metadata: { ...started.metadata, annotations: { [START_DELAY]: '500ms' } } };
    await apply({ ...example, metadata: { name: 'chat', namespace } });
    const type = leaderWorkerSetType as ResourceType;
    await sets.make({ type, name: 'chat', replicas: 2, size: SIZE, template: members as never });
    const seen = await watchGroups();
    await apply(budget('chat', { minAvailable: 1 }));
    await shows('chat', '6/6/3/3');
    const wrong: string[] = [];
    const codes = new Map<number, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      await until('both groups to be whole', () => seen.readyIn('0') === SIZE && seen.readyIn('1') === SIZE);
      const podGroupName = groupOf(await client.get(podType, { namespace, name: 'chat-1' }));
      await until('the restart to be granted', async () => {
        const metadata = { namespace, name: `round-${round}` };
        await client.create(groupEvictionType, { metadata, spec: { podGroupName } });
        return true;
      });
      const { uid = '' } = (await client.get(podType, { namespace, name: 'chat-0-2' })).metadata;
      let isOver = false;
      const ask = async (): Promise<void> => {
        while (!isOver) {
          const code = await codeOf(evict(client, namespace, 'chat-0-2'), 201);
          codes.set(code, (codes.get(code) ?? 0) + 1);
          isOver ||= code === 201;
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, ask));
      await until('the pod to be seen going', () => seen.wholeWhenGone.has(uid));
      const whole = seen.wholeWhenGone.get(uid) ?? 0;
      if (whole < SIZE) wrong.push(`round ${round}: granted while ${whole} of ${SIZE} of the other group were Ready`);
    }
    seen.stop();
    expect(wrong).toEqual([]);
    // 404: the pod was gone by the answer to another client.
    expect([...codes.keys()].filter((code) => ![201, 404, 429].includes(code))).toEqual([]);
    expect(codes.get(429)).toBeGreaterThan(ROUNDS);
  },
  120_000 + ROUNDS * 20_000,
);

test('GC-03, GC-04 deleted, they take their groups and pods along', async () => {
  await kubectl('delete', 'jobsets,leaderworkersets.leaderworkerset.x-k8s.io,leaderworkersets.apps.kruise.io', '--all');
  await until('all of it to be gone', async () => {
    const left = await kubectl('get', 'workloads,podgroups,statefulsets,jobs,pods', '-o', 'name');
    return left.trim() === '';
  });
});
