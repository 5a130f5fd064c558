import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { ConversionError, fromV1alpha1 } from '../../api/kruise/conversion.ts';
import type { PodUnavailableBudget } from '../../api/kruise/types.ts';
import { validatePodUnavailableBudget } from '../../api/kruise/validation.ts';
import { validateBudget } from '../../api/policy/index.ts';
import { type KubeObject, splitApiVersion } from '../../api/resource.ts';
import type { Issue } from '../../machinery/values/index.ts';
import { DisruptionIndex, fedKindOf, type GroupLookup, readBudget } from '../disruption/index.ts';
import { OWNER_TYPES, targetsAbove, UnavailabilityFeed } from '../unavailability/index.ts';
import type { KnownApi } from './known-api.ts';
import { type GroupView, viewGroups } from './group-view.ts';
import { observePods } from './observe.ts';
import { type PdbView, viewPdb } from './pdb-view.ts';
import type { LintPod, PodSet } from './pod-set.ts';
import { type GangOf, projectPods } from './project.ts';
import { type PubView, viewPub } from './pub-view.ts';

export interface LintInput {
  readonly objects: readonly KubeObject[];
  /** Manifests say what will be and may be a part of the whole; a cluster is the whole, and real. */
  readonly source: 'Manifests' | 'Cluster';
  readonly gangOf?: GangOf;
  /** Absent: kinds and fields are not checked. */
  readonly api?: KnownApi | undefined;
}

/** Everything the rules look at, worked out once. */
export interface LintFacts {
  readonly source: LintInput['source'];
  readonly objects: readonly KubeObject[];
  readonly api: KnownApi | undefined;
  readonly sets: readonly PodSet[];
  readonly pods: readonly LintPod[];
  readonly pdbs: readonly PdbView[];
  readonly pubs: readonly PubView[];
  readonly groups: readonly GroupView[];
  readonly index: DisruptionIndex;
  /** Budgets the API would refuse; no other rule looks at them. */
  readonly invalid: readonly { readonly object: KubeObject; readonly issues: readonly Issue[] }[];
  readonly find: (group: string, kind: string, namespace: string, name: string) => KubeObject | undefined;
  readonly lookup: (namespace: string) => GroupLookup;
  readonly covering: (pod: LintPod) => Covering;
}

/** The budgets that are asked about a pod. */
export interface Covering {
  readonly pdbs: readonly PdbView[];
  readonly pubs: readonly PubView[];
}

const keyOf = (group: string, kind: string, namespace: string, name: string): string =>
  `${group}/${kind}/${namespace}/${name}`;

export function gatherLintFacts({ api, gangOf, objects, source }: LintInput): LintFacts {
  const { gangs, pods, sets, sources } = source === 'Cluster' ? observePods(objects) : projectPods(objects, gangOf);
  const index = new DisruptionIndex();
  const feed = new UnavailabilityFeed();
  const unavailability = feed.indexes;
  const invalid: { object: KubeObject; issues: readonly Issue[] }[] = [];
  const byKey = new Map<string, KubeObject>();
  const pdbObjects: PodDisruptionBudget[] = [];
  const pubObjects: PodUnavailableBudget[] = [];
  const origins = new Map<PodUnavailableBudget, KubeObject>();

  for (const object of objects) {
    const { group, version } = splitApiVersion(object.apiVersion ?? '');
    const { name = '', namespace = '' } = object.metadata;
    byKey.set(keyOf(group, object.kind ?? '', namespace, name), object);
    if (object.kind === 'PodDisruptionBudget' && group === 'policy') {
      const issues = issuesOf(() => validateBudget(object as PodDisruptionBudget));
      if (issues.length > 0) invalid.push({ object, issues });
      else pdbObjects.push(object as PodDisruptionBudget);
    } else if (object.kind === 'PodUnavailableBudget' && group === 'policy.kruise.io') {
      let budget = object as PodUnavailableBudget;
      const issues = issuesOf(() => {
        if (version === 'v1alpha1') budget = fromV1alpha1(budget);
        return validatePodUnavailableBudget(budget);
      });
      if (issues.length > 0) invalid.push({ object, issues });
      else {
        pubObjects.push(budget);
        origins.set(budget, object);
      }
    } else {
      const row = fedKindOf(object);
      if (row?.role === 'Group') row.set(index, object);
      const owner = OWNER_TYPES.find((type) => type.kind === object.kind && type.group === group);
      if (owner !== undefined) feed.setOwner(owner.kind, object);
    }
  }
  for (const { minCount, name, namespace, template } of gangs) {
    index.setPodGroup(namespace, name, { name, terminating: false, template, policy: { minCount } });
  }
  for (const { key, namespace, source: said } of sources) index.setSource(namespace, key, { key, source: said });
  for (const budget of pdbObjects) index.setBudget(readBudget(budget));
  for (const budget of pubObjects) unavailability.of(budget.metadata.namespace ?? '').setBudget(budget);

  const podsByKey = new Map<string, LintPod>();
  for (const one of pods) {
    const { name, namespace } = one.facts;
    podsByKey.set(`${namespace}/${name}`, one);
    index.setPod(one.facts);
    unavailability.of(namespace).setPod({ pod: one.pod, targets: targetsOf(one, feed) });
  }
  const podOf = (namespace: string, name: string): LintPod | undefined => podsByKey.get(`${namespace}/${name}`);
  const pdbs = pdbObjects.map((object) => viewPdb(object, index, podOf));
  const pubs = pubObjects.flatMap((budget) => {
    const { name = '', namespace = '' } = budget.metadata;
    const indexed = unavailability.of(namespace).budget(name);
    if (indexed === undefined) return [];
    const covered = [...indexed.tally.pods.keys()].flatMap((podName) => podOf(namespace, podName) ?? []);
    return [{ ...viewPub(indexed, covered, objects), object: (origins.get(budget) ?? budget) as PodUnavailableBudget }];
  });
  const named = <T extends PdbView | PubView>(views: readonly T[]): Map<string, T> =>
    new Map(views.map((view) => [`${view.object.metadata.namespace}/${view.object.metadata.name}`, view]));
  const pdbsByName = named(pdbs);
  const pubsByName = named(pubs);

  return {
    source,
    objects,
    api,
    sets,
    pods,
    pdbs,
    pubs,
    groups: viewGroups(pods, (namespace) => index.groupsIn(namespace)),
    index,
    invalid,
    find: (group, kind, namespace, name) => byKey.get(keyOf(group, kind, namespace, name)),
    lookup: (namespace) => index.groupsIn(namespace),
    covering({ facts: { name, namespace } }) {
      const pdbNames = index.concernedBy(namespace, name).selecting;
      const pubNames = unavailability
        .of(namespace)
        .covering(name)
        .map(({ budget }) => budget.metadata.name);
      return {
        pdbs: pdbNames.flatMap((one) => pdbsByName.get(`${namespace}/${one}`) ?? []),
        pubs: pubNames.flatMap((one) => pubsByName.get(`${namespace}/${one}`) ?? []),
      };
    },
  };
}

/** Every workload a budget may name for this pod; the root stands above whatever owns the pod directly. */
function targetsOf({ pod, set }: LintPod, feed: UnavailabilityFeed): string[] {
  const { apiVersion = '', kind = '', metadata } = set.root;
  const root = { apiVersion, kind, name: metadata.name ?? '', uid: '' };
  return [...new Set([...targetsAbove(pod, () => root), ...feed.targetsOf(pod)])];
}

/** A manifest may hold anything where a field should be; what cannot even be read is refused as a whole. */
function issuesOf(validate: () => Issue[]): Issue[] {
  try {
    return validate();
  } catch (error) {
    const why = error instanceof ConversionError ? error.message : 'its fields do not have the types the API asks for';
    return [{ path: 'spec', rule: 'FieldValueTypeInvalid', message: `cannot be read: ${why}` }];
  }
}
