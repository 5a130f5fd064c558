import { expect, test } from 'vitest';
import type { ReplicaSet } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { NOW, pod, type PodSketch } from './fixtures.ts';
import { DELETION_COST_ANNOTATION as COST } from './deletion-cost.ts';
import { judgePick, PICK_ANNOTATION as PICK, PICK_GRACE_MS, type PickChange, planPicks, unpick } from './pick.ts';
import { chooseVictims, type Ranks } from './rank.ts';

const chosen = (...names: string[]): Ranks => ({
  by: 'PickerRank',
  perName: new Map(names.map((name) => [name, 0])),
  others: 3,
});

const plan = (pods: readonly Pod[], count: number, ranks: Ranks): PickChange[] =>
  planPicks({ pods, count, ranks, now: NOW, generation: 7 });

function carryOut(pods: readonly Pod[], changes: readonly PickChange[]): Pod[] {
  return pods.map((one) => {
    const change = changes.find((each) => each.pod.metadata.name === one.metadata.name);
    const annotations: Record<string, string> = { ...one.metadata.annotations };
    for (const [name, value] of Object.entries(change?.annotations ?? {})) {
      if (value === null) delete annotations[name];
      else annotations[name] = value;
    }
    return { ...one, metadata: { ...one.metadata, annotations } };
  });
}

/** What a controller that knows nothing of pickers removes. */
const taken = (pods: readonly Pod[], count: number): string[] =>
  chooseVictims({ pods, count, ranks: { by: 'Colocation', perNode: new Map([['n2', 9]]) }, now: NOW })
    .map((victim) => victim.pod.metadata.name ?? '')
    .sort();

const sketches = (...names: string[]): PodSketch[] => names.map((name) => ({ name }));

test('the chosen pods go, whatever Kubernetes would have taken by itself', () => {
  const pods = [...sketches('a', 'b', 'c'), { name: 'd', node: 'n2' }].map(pod);
  expect(taken(pods, 2)).toEqual(['a', 'd']);
  expect(taken(carryOut(pods, plan(pods, 2, chosen('b', 'c'))), 2)).toEqual(['b', 'c']);
});

test('K3 K6 pods that are not Ready and costs of the user still come first', () => {
  const pods = [{ name: 'a' }, { name: 'b', cost: '-1' }, { name: 'c', cost: '100' }, { name: 'd', ready: false }].map(
    pod,
  );
  const changes = plan(pods, 2, chosen('c'));
  expect(changes.map((change) => change.pod.metadata.name)).toEqual(['b']);
  expect(taken(carryOut(pods, changes), 2)).toEqual(['b', 'd']);
});

test('taking a pick back restores the cost there was', () => {
  const pods = [
    { name: 'a', cost: '5' },
    { name: 'b', cost: '5' },
    { name: 'c', cost: '9' },
  ].map(pod);
  const [marked] = carryOut(pods, plan(pods, 1, chosen('a')));
  expect(marked?.metadata.annotations?.[COST]).toBe('-2147483648');
  expect(unpick(marked as Pod)).toEqual({ [PICK]: null, [COST]: '5' });
  const changed = { ...marked, metadata: { ...marked?.metadata, annotations: { ...marked?.metadata.annotations } } };
  changed.metadata.annotations[COST] = '12';
  expect(unpick(changed as Pod)).toEqual({ [PICK]: null });
});

test('a second downscale takes back what it does not choose again and keeps the first cost', () => {
  const pods = [
    { name: 'a', cost: '5' },
    { name: 'b', cost: '5' },
    { name: 'c', cost: '5' },
  ].map(pod);
  const once = carryOut(pods, plan(pods, 1, chosen('a')));
  const changes = plan(once, 1, chosen('b'));
  const twice = carryOut(once, changes);
  expect(changes.map((change) => change.pod.metadata.name)).toEqual(['a', 'b']);
  expect(twice[0]?.metadata.annotations).toEqual({ [COST]: '5' });
  expect(taken(twice, 1)).toEqual(['b']);
  const again = carryOut(twice, plan(twice, 1, chosen('b')));
  expect(unpick(again[1] as Pod)).toEqual({ [PICK]: null, [COST]: '5' });
});

test('fewer than planned: the first of the order go', () => {
  const pods = [...sketches('a', 'b', 'c', 'd')].map(pod);
  const marked = carryOut(
    pods,
    plan(pods, 2, {
      by: 'PickerRank',
      perName: new Map([
        ['d', 0],
        ['c', 1],
      ]),
      others: 3,
    }),
  );
  expect(taken(marked, 1)).toEqual(['d']);
});

const set = (generation: number, observedGeneration: number, [wanted, has]: [number, number]): ReplicaSet => ({
  metadata: { name: 'web', generation },
  spec: { replicas: wanted, selector: {} },
  status: { replicas: has, observedGeneration },
});
const picked = (): Pod => {
  const one = pod({ name: 'a' });
  return { ...one, metadata: { ...one.metadata, annotations: { [PICK]: '{"cost":"-2147483648","generation":7}' } } };
};

test.each([
  ['before the change is seen', set(7, 7, [5, 5]), 0, false, 'DownscaleUnderWay'],
  ['while the controller has not seen it', set(8, 7, [4, 5]), PICK_GRACE_MS, false, 'DownscaleUnderWay'],
  ['while pods still go', set(8, 8, [4, 5]), PICK_GRACE_MS, false, 'DownscaleUnderWay'],
  ['when it has its size', set(8, 8, [4, 4]), 0, true, 'DownscaleDone'],
  ['when it grew again', set(9, 9, [9, 5]), 0, true, 'DownscaleDone'],
  ['when nothing came', set(7, 7, [5, 5]), PICK_GRACE_MS, true, 'DownscaleNeverCame'],
  ['when the owner is gone', undefined, 0, true, 'OwnerGone'],
] as const)('a pick %s', (_when, replicaSet, waitedMs, over, reason) => {
  expect(judgePick(picked(), { replicaSet, waitedMs })).toEqual({ over, reason });
});

test('a note that makes no sense is removed and the cost left alone', () => {
  const one = pod({ name: 'a', cost: '3' });
  const annotations = { ...one.metadata.annotations, [PICK]: 'nonsense' };
  expect(unpick({ ...one, metadata: { ...one.metadata, annotations } })).toEqual({ [PICK]: null });
});
