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

function objectKeyOf({ apiVersion = '', kind = '', metadata: { name = '', namespace = '' } }: KubeObject): string {
  return keyOf(splitApiVersion(apiVersion).group, kind, namespace, name);
}

export function gatherLintFacts({ api, gangOf, objects, source }: LintInput): LintFacts {
  const found = source === 'Cluster' ? observePods(objects) : projectPods(objects, gangOf);
  const { gangs, pods, sets, sources } = found;
  const index = new DisruptionIndex();
  const feed = new UnavailabilityFeed();
  const { invalid, pdbs: pdbObjects, pubs: pubObjects } = readBudgets(objects);
  feedGroupsAndOwners(objects, index, feed);
  for (const { minCount, name, namespace, template } of gangs) {
    index.setPodGroup(namespace, name, {
      name,
      terminating: false,
      template,
      policy: { minCount },
      parent: undefined,
      whole: false,
    });
  }
  for (const { key, namespace, source: said } of sources) index.setSource(namespace, key, { key, source: said });
  for (const budget of pdbObjects) index.setBudget(readBudget(budget));
  for (const { budget } of pubObjects) feed.indexes.of(budget.metadata.namespace ?? '').setBudget(budget);
  for (const one of pods) {
    index.setPod(one.facts);
    feed.indexes.of(one.facts.namespace).setPod({ pod: one.pod, targets: targetsOf(one, feed) });
  }
  const podsByName = new Map(pods.map((one) => [`${one.facts.namespace}/${one.facts.name}`, one]));
  const podOf: PodOf = (namespace, name) => podsByName.get(`${namespace}/${name}`);
  const pdbs = pdbObjects.map((object) => viewPdb(object, index, podOf));
  const pubs = pubObjects.flatMap((pub) => viewPubIn(feed, pub, podOf, objects));
  const byKey = new Map(objects.map((object) => [objectKeyOf(object), object]));

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
    covering: coveringOf({ index, feed, pdbs, pubs }),
  };
}

type PodOf = (namespace: string, name: string) => LintPod | undefined;

/** A budget in the version that is decided by, and as it was written. */
interface ReadPub {
  readonly budget: PodUnavailableBudget;
  readonly origin: KubeObject;
}

/** The budgets among the objects, those that the API would refuse apart. */
function readBudgets(objects: readonly KubeObject[]) {
  const invalid: { object: KubeObject; issues: readonly Issue[] }[] = [];
  const pdbs: PodDisruptionBudget[] = [];
  const pubs: ReadPub[] = [];
  for (const object of objects) {
    const { group, version } = splitApiVersion(object.apiVersion ?? '');
    if (object.kind === 'PodDisruptionBudget' && group === 'policy') {
      const issues = issuesOf(() => validateBudget(object as PodDisruptionBudget));
      if (issues.length > 0) invalid.push({ object, issues });
      else pdbs.push(object as PodDisruptionBudget);
    } else if (object.kind === 'PodUnavailableBudget' && group === 'policy.kruise.io') {
      let budget = object as PodUnavailableBudget;
      const issues = issuesOf(() => {
        if (version === 'v1alpha1') budget = fromV1alpha1(budget);
        return validatePodUnavailableBudget(budget);
      });
      if (issues.length > 0) invalid.push({ object, issues });
      else pubs.push({ budget, origin: object });
    }
  }
  return { invalid, pdbs, pubs };
}

function feedGroupsAndOwners(objects: readonly KubeObject[], index: DisruptionIndex, feed: UnavailabilityFeed): void {
  for (const object of objects) {
    const row = fedKindOf(object);
    if (row?.role === 'Group' || row?.role === 'Policy') row.set(index, object);
    const { group } = splitApiVersion(object.apiVersion ?? '');
    const owner = OWNER_TYPES.find((type) => type.kind === object.kind && type.group === group);
    if (owner !== undefined) feed.setOwner(owner.kind, object);
  }
}

function viewPubIn(
  feed: UnavailabilityFeed,
  { budget, origin }: ReadPub,
  podOf: PodOf,
  objects: readonly KubeObject[],
): PubView[] {
  const { name = '', namespace = '' } = budget.metadata;
  const indexed = feed.indexes.of(namespace).budget(name);
  if (indexed === undefined) return [];
  const covered = [...indexed.tally.pods.keys()].flatMap((podName) => podOf(namespace, podName) ?? []);
  return [{ ...viewPub(indexed, covered, objects), object: origin as PodUnavailableBudget }];
}

interface AllViews extends Pick<LintFacts, 'index' | 'pdbs' | 'pubs'> {
  readonly feed: UnavailabilityFeed;
}

function coveringOf({ feed, index, pdbs, pubs }: AllViews): LintFacts['covering'] {
  const named = <T extends PdbView | PubView>(views: readonly T[]): Map<string, T> =>
    new Map(views.map((view) => [`${view.object.metadata.namespace}/${view.object.metadata.name}`, view]));
  const pdbsByName = named(pdbs);
  const pubsByName = named(pubs);
  return ({ facts: { name, namespace } }) => {
    const pubsOfPod = feed.indexes.of(namespace).covering(name);
    return {
      pdbs: index.concernedBy(namespace, name).selecting.flatMap((one) => pdbsByName.get(`${namespace}/${one}`) ?? []),
      pubs: pubsOfPod.flatMap(({ budget }) => pubsByName.get(`${namespace}/${budget.metadata.name}`) ?? []),
    };
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
