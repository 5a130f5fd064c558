/** What the page for people who know PodDisruptionBudgets promises, with the objects it shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { podDisruptionBudgetType } from '../../src/api/resource-types.ts';
import { computePublication } from '../../src/decisions/disruption/publication.ts';
import {
  apply,
  type ControlPlane,
  expectEvicted,
  expectRefused,
  gang,
  isForbidden,
  type KubeObject,
  pod,
  podType,
  setReady,
  startControlPlane,
} from '../../src/testkit/index.ts';

const page = readFileSync(
  join(import.meta.dirname, '..', '..', 'docs', 'guide', 'for-people-who-know-pdbs.md'),
  'utf8',
);
const blocks = [...page.matchAll(/^```(\w+ \w+)\n([^]*?)^```/gm)].map(([, kind = '', text = '']) => ({ kind, text }));
const shown = (kind: string, word: string): string =>
  blocks.find((block) => block.kind === kind && block.text.includes(word))?.text ?? `nothing of ${kind} on ${word}`;

const labels = { app: 'training' };
const member = { labels, size: 3, podSpec: { nodeName: 'node-0' } };
const gangs = [...gang({ ...member, name: 'gang-0' }), ...gang({ ...member, name: 'gang-1' })];

async function withPlane(objects: readonly KubeObject[], run: (plane: ControlPlane) => Promise<void>): Promise<void> {
  const plane = await startControlPlane({ controllers: true });
  try {
    await apply(plane, objects);
    for (const one of objects) if (one.kind === 'Pod') await setReady(plane, one);
    await run(plane);
  } finally {
    await plane.stop();
  }
}

async function statusOf(plane: ControlPlane, name: string): Promise<readonly (number | string | undefined)[]> {
  await plane.settle();
  const { status } = await plane.client.get(podDisruptionBudgetType, { namespace: 'default', name });
  const condition = status?.conditions?.find(({ type }) => type === 'PodGroupBudget');
  const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = status ?? {};
  return [expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed, condition?.reason];
}

test('22.3: a budget counts groups, and an eviction costs one or nothing', async () => {
  await withPlane(gangs, async (plane) => {
    await apply(plane, shown('yaml budget', 'name: training'));
    expect(await statusOf(plane, 'training')).toEqual([2, 2, 1, 1, 'GroupUnits']);
    const rows = [...page.matchAll(/^\| `(gang-\d-\d)` \| (granted|429)/gm)];
    expect(rows.length).toBe(3);
    for (const [, name = '', answer] of rows) {
      if (answer === 'granted') await expectEvicted(plane, name);
      else {
        const refusal = await expectRefused(plane, name, shown('text refusal', 'training').trim());
        expect(refusal.causes[0]).toMatchObject({
          reason: 'DisruptionBudget',
          message: expect.stringContaining('needs 1 healthy pod groups and has 1 currently') as string,
        });
        expect(page).toContain('needs 1 healthy pod groups and has 1 currently');
      }
    }
  });
});

test('22.3: pods count where a group is not there, unless the budget says groups', async () => {
  const [, ...members] = gang({ ...member, name: 'gang-0' });
  await withPlane(members, async (plane) => {
    await apply(plane, shown('yaml budget', 'name: training'));
    expect(await statusOf(plane, 'training')).toEqual([3, 3, 1, 2, 'PodGroupNotFound']);
  });
  await withPlane(members, async (plane) => {
    await apply(plane, shown('yaml budget', 'name: strict'));
    expect((await statusOf(plane, 'strict')).at(-1)).toBe('PodGroupResolutionFailed');
    await expectRefused(plane, 'gang-0-0', 'PodGroupResolutionFailed');
  });
});

test('22.3: a group that goes as one has no spare member', async () => {
  const [, ...members] = gang({ ...member, name: 'gang-0' });
  for (const [spec, allowed] of [
    [shown('yaml group', 'gang-0'), 0],
    [shown('yaml group', 'gang-0').replace(/.*disruptionMode.*\n/, ''), 1],
  ] as const) {
    await withPlane([...gang({ ...member, name: 'gang-1' }), ...members], async (plane) => {
      await apply(plane, spec);
      await apply(plane, shown('yaml budget', 'name: training'));
      await plane.settle();
      await expectEvicted(plane, 'gang-0-0');
      expect((await statusOf(plane, 'training'))[3]).toBe(allowed);
      await expectEvicted(plane, 'gang-0-1');
    });
  }
});

test('22.3: a PodUnavailableBudget guards deletes too', async () => {
  const shards = ['a', 'b'].flatMap((shard) =>
    [0, 1, 2].map((at) =>
      pod({ name: `${shard}-${at}`, labels: { app: 'shards', shard }, spec: { nodeName: 'node-0' } }),
    ),
  );
  await withPlane(shards, async (plane) => {
    await apply(plane, shown('yaml budget', 'PodUnavailableBudget'));
    await plane.settle();
    await plane.client.delete(podType, { namespace: 'default', name: 'a-0' });
    await expect(plane.client.delete(podType, { namespace: 'default', name: 'b-0' })).rejects.toSatisfy(isForbidden);
    expect((await expectRefused(plane, 'b-0')).code).toBe(429);
  });
});

test('22.3: the numbers in pods are those of adopt mode', () => {
  const unit = { healthy: 3, minCount: 3, takeable: 3, whole: false };
  const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, message } = computePublication({
    expected: 2,
    available: 2,
    desired: 1,
    mayGoDown: 1,
    alwaysAllow: false,
    units: [unit, unit],
    individual: 0,
    ready: 6,
    outstanding: 0,
    unready: 0,
    pods: 6,
    shortages: () => [],
  });
  expect(shown('text publication', 'groups').trim()).toBe(message);
  const row = [expectedPods, currentHealthy, desiredHealthy, disruptionsAllowed].join(' | ');
  expect(page).toContain(`| \`kubectl get pdb\` | ${row} |`);
});
