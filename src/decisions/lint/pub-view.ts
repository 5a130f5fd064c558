import type { PodUnavailableBudget } from '../../api/kruise/types.ts';
import type { KubeObject } from '../../api/resource.ts';
import {
  type UnavailabilityTally,
  computeNumbers,
  expectedSource,
  type IndexedBudget,
  type UnavailabilityNumbers,
  targetOf,
} from '../unavailability/index.ts';
import { setsOf } from './pdb-view.ts';
import type { LintPod } from './pod-set.ts';
import { countAt, fieldsOf } from './shapes.ts';

export interface PubView {
  readonly kind: 'PodUnavailableBudget';
  readonly object: PodUnavailableBudget;
  readonly tally: UnavailabilityTally;
  readonly pods: readonly LintPod[];
  /** Its numbers with everything well; undefined where they cannot be known. */
  readonly best: UnavailabilityNumbers | undefined;
}

export function viewPub(
  { budget, tally }: IndexedBudget,
  pods: readonly LintPod[],
  objects: readonly KubeObject[],
): PubView {
  const spec = budget.spec ?? {};
  const expected = expectedOf();
  const seen = spec.podGroupPolicy === undefined ? pods.length : tally.seenGroups;
  const best =
    expected === undefined ? undefined : computeNumbers(spec, { expected, available: Math.max(seen, expected) });
  return { kind: 'PodUnavailableBudget', object: budget, tally, pods, best };

  function expectedOf(): number | undefined {
    switch (expectedSource(spec)) {
      case 'TotalReplicas':
        return spec.protectTotalReplicas;
      case 'SeenGroups':
        return tally.seenGroups;
      case 'TargetGroups':
      case 'TargetScale':
        return replicasOfTarget();
      case 'LeaderWorkerSets':
        return sum([...new Set(pods.map(({ set }) => set.root))].map(replicasOf));
      case 'OwnerScales':
        return sum([...setsOf(pods)].map(([{ managed, scale }, count]) => (managed ? scaleOr(scale, count) : 0)));
    }
  }

  function replicasOfTarget(): number | undefined {
    const wanted = targetOf(spec.targetRef ?? {});
    const found = objects.find(
      ({ apiVersion, kind, metadata }) =>
        metadata.namespace === budget.metadata.namespace &&
        targetOf({ apiVersion, kind, name: metadata.name }) === wanted,
    );
    return found === undefined ? undefined : replicasOf(found);
  }
}

const scaleOr = (scale: number | string, seen: number): number => (typeof scale === 'number' ? scale : seen);
const replicasOf = (object: KubeObject): number =>
  countAt(fieldsOf((object as { spec?: unknown }).spec)['replicas'], 1);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
