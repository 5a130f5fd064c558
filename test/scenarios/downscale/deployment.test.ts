import { afterEach, expect, test } from 'vitest';
import type { Deployment, DeploymentSpec, ReplicaSet } from '../../../src/api/generated/apps-v1.ts';
import { deploymentType, replicaSetType } from '../../../src/api/resource-types.ts';
import { deployment } from '../../../src/testkit/index.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function start(options: WorldOptions = {}): Promise<World> {
  world = await startWorld(options);
  return world;
}

const key = { namespace: 'default', name: 'web' };

async function create(w: World, replicas: number, spec: Partial<DeploymentSpec> = {}): Promise<void> {
  await w.client.create(deploymentType, deployment({ name: 'web', replicas, spec }));
  await w.settle();
  await w.bringAll();
}

/** What `kubectl set image` does. */
async function setImage(w: World, image: string): Promise<void> {
  const containers = [{ name: 'main', image }];
  await patch(w, { spec: { template: { spec: { containers } } } });
}

async function patch(w: World, body: object): Promise<void> {
  await w.client.patch(deploymentType, key, { type: 'merge', body });
  await w.settle();
}

/** Plays kubelet until nothing moves any more. */
async function rollOut(w: World): Promise<void> {
  for (let round = 0; round < 30; round += 1) {
    await w.bringAll();
    const before = (await w.pods()).length;
    await w.reap();
    if ((await w.pods()).length === before && (await w.pods()).every(({ status }) => status?.phase === 'Running'))
      return;
  }
}

const imageOf = ({ spec }: ReplicaSet): string | undefined => spec?.template?.spec?.containers?.[0]?.image;
const sizes = async (w: World): Promise<Record<string, number>> =>
  Object.fromEntries((await w.replicaSets()).map((set) => [imageOf(set) ?? '', set.spec?.replicas ?? -1]));
const revisions = async (w: World): Promise<Record<string, string | undefined>> =>
  Object.fromEntries(
    (await w.replicaSets()).map((set) => [
      imageOf(set) ?? '',
      set.metadata.annotations?.['deployment.kubernetes.io/revision'],
    ]),
  );
const progressing = ({ status }: Deployment) => status?.conditions?.find(({ type }) => type === 'Progressing');
const FIRST = 'registry.k8s.io/pause:3.10';

test('a Deployment makes a ReplicaSet of its template and reports its pods', async () => {
  const w = await start();
  await create(w, 3);
  const [set] = await w.replicaSets();
  const hash = set?.metadata.labels?.['pod-template-hash'];
  expect(set?.metadata.name).toBe(`web-${hash}`);
  expect(set?.spec?.selector?.matchLabels).toEqual({ app: 'web', 'pod-template-hash': hash });
  expect(set?.metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/revision': '1',
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
  });
  const made = await w.deployment('web');
  expect(made.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
  expect(made.status).toMatchObject({ replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 });
  expect(made.status?.conditions).toMatchObject([
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
  ]);
});

test('a rolling update never goes above its surge nor below what must be available', async () => {
  const w = await start();
  await create(w, 10, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 3 } } });
  await setImage(w, 'next');
  for (let round = 0; round < 40; round += 1) {
    const sets = await w.replicaSets();
    const total = sets.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
    const available = sets.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0);
    expect(total).toBeLessThanOrEqual(12);
    expect(available).toBeGreaterThanOrEqual(7);
    const waiting = (await w.pods()).find(
      ({ metadata, status }) => !metadata.deletionTimestamp && status?.phase === 'Pending',
    );
    if (waiting === undefined) break;
    await w.bring(waiting.metadata.name ?? '');
    await w.settle();
    await w.reap();
  }
  expect(await sizes(w)).toEqual({ [FIRST]: 0, next: 10 });
  expect(await revisions(w)).toEqual({ [FIRST]: '1', next: '2' });
  const { status } = await w.deployment('web');
  expect(status).toMatchObject({ replicas: 10, updatedReplicas: 10, availableReplicas: 10 });
});

test('going back to an earlier template reuses its ReplicaSet and raises its revision', async () => {
  const w = await start();
  await create(w, 2);
  await setImage(w, 'next');
  await rollOut(w);
  await setImage(w, FIRST);
  await rollOut(w);
  expect(await sizes(w)).toEqual({ [FIRST]: 2, next: 0 });
  expect(await revisions(w)).toEqual({ [FIRST]: '3', next: '2' });
  const first = (await w.replicaSets()).find((set) => imageOf(set) === FIRST);
  expect(first?.metadata.annotations?.['deployment.kubernetes.io/revision-history']).toBe('1');
});

const ROLLBACK = 'deprecated.deployment.rollback.to';
const rollBackTo = (w: World, revision: string) => patch(w, { metadata: { annotations: { [ROLLBACK]: revision } } });

test('R18 a rollback without a former revision says so and clears the wish', async () => {
  const w = await start();
  await create(w, 1);
  await rollBackTo(w, '0');
  expect((await w.deployment('web')).metadata.annotations).not.toHaveProperty([ROLLBACK]);
  expect((await w.events('web')).map(({ reason }) => reason)).toContain('DeploymentRollbackRevisionNotFound');
});

test.each(['0', '1'])('the rollback annotation %s brings the former template back', async (revision) => {
  const w = await start();
  await create(w, 1);
  await setImage(w, 'next');
  await rollOut(w);
  await rollBackTo(w, revision);
  await rollOut(w);
  const made = await w.deployment('web');
  expect(made.spec?.template.spec?.containers[0]?.image).toBe(FIRST);
  expect(made.spec?.template.metadata?.labels).toEqual({ app: 'web' });
  expect(made.metadata.annotations).not.toHaveProperty([ROLLBACK]);
  expect(await revisions(w)).toEqual({ [FIRST]: '3', next: '2' });
  expect((await w.events('web')).map(({ reason }) => reason)).toContain('DeploymentRollback');
});

test.each([1, 3, 7])(
  'R13 no status of %s replicas is complete while an old ReplicaSet wants pods',
  async (replicas) => {
    const wantedByOld: (number | undefined)[] = [];
    let complete = 0;
    const w = await start({
      // Looks at each status right before it is written.
      intercept: (inner) => async (request) => {
        const isStatus = request.method === 'PUT' && request.path.endsWith('/deployments/web/status');
        if (isStatus && isComplete(JSON.parse(String(request.body)) as Deployment)) {
          complete += 1;
          const image = imageOf(JSON.parse(String(request.body)) as ReplicaSet);
          const old = (await w.replicaSets()).filter((set) => imageOf(set) !== image);
          wantedByOld.push(...old.map(({ spec }) => spec?.replicas));
        }
        return inner(request);
      },
    });
    await create(w, replicas);
    for (const step of [() => setImage(w, 'next'), () => rollBackTo(w, '0'), () => setImage(w, 'next')]) {
      await step();
      await rollOut(w);
    }
    expect(complete).toBeGreaterThanOrEqual(3);
    expect(wantedByOld.filter((wanted) => wanted !== 0)).toEqual([]);
  },
);

/** As `kubectl rollout status` and the controller itself see it. */
function isComplete({ metadata, spec, status }: Deployment): boolean {
  const { availableReplicas, observedGeneration = 0, replicas, updatedReplicas } = status ?? {};
  return (
    observedGeneration >= (metadata.generation ?? 0) &&
    [updatedReplicas, replicas, availableReplicas].every((count) => count === spec?.replicas)
  );
}

test('a rollback to the current template changes nothing', async () => {
  const w = await start();
  await create(w, 1);
  await setImage(w, 'next');
  await rollOut(w);
  await rollBackTo(w, '2');
  expect((await w.events('web')).map(({ reason }) => reason)).toContain('DeploymentRollbackTemplateUnchanged');
  expect(await revisions(w)).toEqual({ [FIRST]: '1', next: '2' });
});

test('a paused Deployment scales but does not roll out until it is resumed', async () => {
  const w = await start();
  await create(w, 2);
  await patch(w, { spec: { paused: true } });
  expect(progressing(await w.deployment('web'))).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused' });
  await setImage(w, 'next');
  expect(await sizes(w)).toEqual({ [FIRST]: 2 });
  await w.scale(deploymentType, 'web', 4);
  expect(await sizes(w)).toEqual({ [FIRST]: 4 });
  await patch(w, { spec: { paused: false } });
  await rollOut(w);
  expect(await sizes(w)).toEqual({ [FIRST]: 0, next: 4 });
});

test('a rollout that makes no progress within its deadline says so, and recovers with progress', async () => {
  const w = await start();
  await create(w, 2, { progressDeadlineSeconds: 60 });
  await setImage(w, 'broken');
  await w.advance(59_000);
  expect(progressing(await w.deployment('web'))).toMatchObject({ status: 'True' });
  await w.advance(5_000);
  expect(progressing(await w.deployment('web'))).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
  await rollOut(w);
  expect(progressing(await w.deployment('web'))).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
});

test('R15 old ReplicaSets beyond the history limit are deleted', async () => {
  const w = await start();
  await create(w, 1, { revisionHistoryLimit: 1 });
  for (const image of ['b', 'c', 'd']) {
    await setImage(w, image);
    await rollOut(w);
  }
  expect(await sizes(w)).toEqual({ c: 0, d: 1 });
});

test('R16 Recreate waits for the last old pod, terminating ones included', async () => {
  const w = await start();
  await create(w, 2, { strategy: { type: 'Recreate' } });
  await setImage(w, 'next');
  expect(await sizes(w)).toEqual({ [FIRST]: 0 });
  expect(await w.pods()).toHaveLength(2);
  await w.reap();
  expect(await sizes(w)).toEqual({ [FIRST]: 0, next: 2 });
});

test('a size changed in the middle of a rollout spreads over both ReplicaSets', async () => {
  const w = await start();
  await create(w, 10, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
  await setImage(w, 'broken');
  expect(await sizes(w)).toEqual({ [FIRST]: 8, broken: 5 });
  await w.scale(deploymentType, 'web', 30);
  expect(await sizes(w)).toEqual({ [FIRST]: 20, broken: 13 });
});

test('a ReplicaSet whose hash is taken gets another name', async () => {
  const w = await start();
  await create(w, 1);
  const [set] = await w.replicaSets();
  await patch(w, { spec: { paused: true } });
  const stranger = structuredClone(set as ReplicaSet);
  await w.client.delete(replicaSetType, { namespace: 'default', name: set?.metadata.name ?? '' });
  stranger.metadata = { name: set?.metadata.name, namespace: 'default', labels: { app: 'stranger' } };
  stranger.spec = {
    replicas: 0,
    selector: { matchLabels: { app: 'stranger' } },
    template: { ...stranger.spec?.template, metadata: { labels: { app: 'stranger' } } },
  };
  await w.client.create(replicaSetType, stranger);
  await patch(w, { spec: { paused: false } });
  await w.advance(1000);
  expect((await w.deployment('web')).status?.collisionCount).toBe(1);
  const own = (await w.replicaSets()).filter(({ metadata }) => metadata.labels?.app === 'web');
  expect(own).toHaveLength(1);
  expect(own[0]?.metadata.name).not.toBe(set?.metadata.name);
});

const picker = (port: number) => ({ http: { host: '127.0.0.1', port } });

test('K25 an edited picker reaches the new ReplicaSet without a revision or a rollout', async () => {
  const w = await start();
  await create(w, 1, { downscalePodPicker: picker(1) });
  const [before] = await w.replicaSets();
  expect(before?.spec?.downscalePodPicker).toMatchObject({ maxRetries: 3, timeoutSeconds: 1, http: { port: 1 } });
  await patch(w, { spec: { downscalePodPicker: picker(2) } });
  const [after, ...others] = await w.replicaSets();
  expect(others).toEqual([]);
  expect(after?.spec?.downscalePodPicker?.http?.port).toBe(2);
  expect(after?.metadata.labels).toEqual(before?.metadata.labels);
  expect(after?.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
  await patch(w, { spec: { downscalePodPicker: null } });
  expect((await w.replicaSets())[0]?.spec).not.toHaveProperty('downscalePodPicker');
});

test('a picker set by hand on an owned ReplicaSet is overwritten', async () => {
  const w = await start();
  await create(w, 1, { downscalePodPicker: picker(1) });
  const [set] = await w.replicaSets();
  const name = set?.metadata.name ?? '';
  await w.client.patch(
    replicaSetType,
    { namespace: 'default', name },
    {
      type: 'merge',
      body: { spec: { downscalePodPicker: picker(9) } },
    },
  );
  await w.settle();
  expect((await w.replicaSet(name)).spec?.downscalePodPicker?.http?.port).toBe(1);
});

test('old ReplicaSets get the current picker with their next scaling', async () => {
  const w = await start();
  await create(w, 2);
  await patch(w, { spec: { downscalePodPicker: { ...picker(7), maxRetries: 0 } } });
  await setImage(w, 'next');
  await rollOut(w);
  const old = (await w.replicaSets()).find((set) => imageOf(set) === FIRST);
  expect(old?.spec).toMatchObject({ replicas: 0, downscalePodPicker: { http: { port: 7 } } });
});
