import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  apply,
  type ControlPlane,
  type ControlPlaneOptions,
  expectEvicted,
  expectRefused,
  gang,
  installCrds,
  leaderWorkerSet,
  podDisruptionBudget,
  podGroupType,
  podType,
  podUnavailableBudget,
  setReady,
  startControlPlane,
  workload,
  workloadType,
} from './index.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const plane = await startControlPlane(options);
  stops.push(() => plane.stop());
  return plane;
}

const budget = podDisruptionBudget({
  name: 'serving',
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'serving' } } },
});

/** Two gangs of three under a budget of one group. */
async function twoGangs(): Promise<ControlPlane> {
  const plane = await start({ controllers: true, nodes: 2 });
  const labels = { app: 'serving' };
  await apply(plane, [...gang({ name: 'a', size: 3, labels }), ...gang({ name: 'b', size: 3, labels }), budget]);
  await plane.clock.advance(10_000);
  return plane;
}

test('expectEvicted() and expectRefused() ask the eviction API about gangs', async () => {
  const plane = await twoGangs();
  const { items } = await plane.client.list(podType, { namespace: 'default' });
  expect(items.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)).toEqual(
    ['a-0', 'a-1', 'a-2', 'b-0', 'b-1', 'b-2'].map((name) => `${name} Running`),
  );
  const group = await plane.client.get(podGroupType, { namespace: 'default', name: 'a' });
  expect(group.spec?.schedulingPolicy).toEqual({ gang: { minCount: 3 } });

  await expectEvicted(plane, 'a-0');
  await expectEvicted(plane, 'default/a-1');
  const refusal = await expectRefused(plane, 'b-0', 'counts pod groups: 1 of 2 expected healthy, 1 needed');
  expect(refusal.code).toBe(429);
  await expectRefused(plane, { metadata: { name: 'b-1' } }, /^The disruption budget serving needs 1/);

  await expect(expectEvicted(plane, 'b-0')).rejects.toThrow(
    /^Expected the eviction of pod b-0 to be granted; it was refused: .*Budget serving \(maxUnavailable 1\)/,
  );
  await expect(expectRefused(plane, 'b-0', /moon/)).rejects.toThrow(
    /^Expected the eviction of pod b-0 to be refused because \/moon\/; it was refused: /,
  );
  await expect(expectRefused(plane, 'a-2')).rejects.toThrow(
    'Expected the eviction of pod a-2 to be refused; it was granted',
  );
  await expect(expectRefused(plane, 'nobody')).rejects.toThrow('pods "nobody" not found');
});

test('setReady() plays the kubelet on a plane without nodes', async () => {
  const plane = await start();
  const [group, ...pods] = gang({ name: 'serving', size: 2, podSpec: { nodeName: 'elsewhere' } });
  await apply(plane, [group, ...pods, budget]);
  for (const pod of pods) await setReady(plane, pod);
  await setReady(plane, 'serving-1', false);
  const read = await plane.client.get(podType, { namespace: 'default', name: 'serving-1' });
  expect(read.status).toMatchObject({ phase: 'Running' });
  expect(read.status?.conditions?.filter(({ type }) => type === 'Ready').map(({ status }) => status)).toEqual([
    'False',
  ]);
});

test('apply() takes YAML of several documents, in order, and says which one it cannot read', async () => {
  const plane = await start();
  const applied = await apply(
    plane,
    `# nothing but a comment\n---\napiVersion: v1\nkind: Namespace\nmetadata: { name: team }\n---
apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one, namespace: team }\ndata: { a: "1" }\n`,
  );
  expect(applied.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)).toEqual([
    'Namespace /team',
    'ConfigMap team/one',
  ]);
  await expect(apply(plane, 'apiVersion: v1\nkind: Pod\nmetadata: {}\n---\nhello\n')).rejects.toThrow(
    'Cannot read document 2: it needs apiVersion, kind and metadata',
  );
  await expect(apply(plane, 'apiVersion: v9\nkind: Moon\nmetadata: { name: m }')).rejects.toThrow(
    'Cannot apply Moon "m": the server has no Moon of v9',
  );
});

test('builders of sets, workloads and budgets are valid as they are', async () => {
  const plane = await start();
  await apply(plane, [
    leaderWorkerSet({ replicas: 2, size: 3 }),
    workload({ name: 'w' }),
    podUnavailableBudget({ spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'set' } } } }),
  ]);
  const { spec } = await plane.client.get(workloadType, { namespace: 'default', name: 'w' });
  expect(spec?.podGroupTemplates?.[0]?.name).toBe('gang');
});

const definition = (plural: string): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${plural}.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: ${plural}, kind: Shard }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;

test('installCrds() installs the definitions of a folder and nothing else in it', async () => {
  const plane = await start();
  const folder = mkdtempSync(join(tmpdir(), 'quorate-crds-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'shards.yaml'), definition('shards'));
  writeFileSync(join(folder, 'sample.yml'), 'apiVersion: example.com/v1\nkind: Shard\nmetadata: { name: s }\n');
  writeFileSync(join(folder, 'README.md'), 'not: [yaml');
  expect(await installCrds(plane, folder)).toEqual(['shards.example.com']);
  const [shard] = await apply(plane, 'apiVersion: example.com/v1\nkind: Shard\nmetadata: { name: s }\n');
  expect(shard?.metadata).toMatchObject({ name: 's', namespace: 'default' });

  writeFileSync(join(folder, 'twice.yaml'), definition('moreshards'));
  await expect(installCrds(plane, folder)).rejects.toThrow('Cannot install moreshards.example.com: SingularConflict');
});
