import type { KubeObject } from '../../../api/resource.ts';
import { splitApiVersion } from '../../../api/resource.ts';
import { type LinkSource, readPodGroup } from '../../disruption/index.ts';
import type { LintFacts } from '../facts.ts';
import type { Problem, LintRule } from '../finding.ts';
import type { PodSet } from '../pod-set.ts';

export const danglingReference: LintRule = {
  name: 'dangling-reference',
  severity: 'error',
  what: 'A reference to an object that is not there',
  why: 'Pods that name a missing group are never scheduled, and a budget over them counts pods and not groups.',
  fix: 'Create what is named, or correct the name.',
  details:
    'Followed are the links from pods to PodGroups and Workloads, from PodGroups to the template of their Workload, and ' +
    'the targetRef of PodUnavailableBudgets. In manifests the finding is a warning, because the other object may ' +
    'already be in the cluster; in a cluster it is an error.',
  *check(facts) {
    for (const problem of [...links(facts), ...templates(facts), ...targets(facts)]) {
      yield facts.source === 'Manifests' ? { ...problem, severity: 'warning' } : problem;
    }
  },
};

const FIELDS: Readonly<Record<LinkSource, string>> = {
  SchedulingGroup: 'schedulingGroup.podGroupName',
  WorkloadRefPodGroup: 'workloadRef.podGroupName',
  WorkloadRef: 'workloadRef',
  WorkloadReference: 'workloadReference',
  Workload: 'workload',
};

function* links({ groups, source }: LintFacts): Generator<Problem> {
  const seen = new Map<PodSet, Set<string>>();
  for (const { members, resolution } of groups) {
    if (resolution.kind !== 'broken' || resolution.reason === 'IncompleteReference') continue;
    for (const { facts, set } of members) {
      if (facts.link === undefined) continue;
      const { podGroup, source: shape, workload } = facts.link;
      const what =
        resolution.reason === 'WorkloadNotFound'
          ? `Workload "${workload}"`
          : shape === 'SchedulingGroup' || shape === 'WorkloadRefPodGroup'
            ? `PodGroup "${podGroup}"`
            : `group "${podGroup}" of Workload "${workload}"`;
      const known = seen.get(set) ?? new Set<string>();
      seen.set(set, known);
      if (known.has(what)) continue;
      known.add(what);
      const path = `${set.path === '' ? 'spec' : `${set.path}.spec`}.${FIELDS[shape]}`;
      const where = source === 'Manifests' ? 'in these files' : 'there';
      // Pods of one controller may name different groups, so in a cluster the pod is what a person can look at.
      yield {
        object: set.root,
        path: source === 'Cluster' && set.managed ? '' : path,
        message: `${what} is not ${where}`,
      };
    }
  }
}

function* templates({ lookup, objects, source }: LintFacts): Generator<Problem> {
  for (const object of objects) {
    if (object.kind !== 'PodGroup' || splitApiVersion(object.apiVersion ?? '').group !== 'scheduling.k8s.io') continue;
    const { template } = readPodGroup(object);
    if (template === undefined) continue;
    const workload = lookup(object.metadata.namespace ?? '').workload(template.workload);
    const path = templatePath(object);
    const where = source === 'Manifests' ? 'in these files' : 'there';
    if (workload === undefined) yield { object, path, message: `Workload "${template.workload}" is not ${where}` };
    else if (!workload.groups.has(template.name)) {
      yield { object, path, message: `Workload "${template.workload}" has no template "${template.name}"` };
    }
  }
}

function templatePath(object: KubeObject): string {
  const { spec } = object as { spec?: { workloadRef?: unknown } };
  return spec?.workloadRef === undefined ? 'spec.podGroupTemplateRef' : 'spec.workloadRef';
}

/** Kinds that are always read; what else a targetRef names may exist unseen. */
const READ = new Set([
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
  'apps/DaemonSet',
  'batch/Job',
  '/ReplicationController',
  'leaderworkerset.x-k8s.io/LeaderWorkerSet',
]);

function* targets({ find, pubs, source }: LintFacts): Generator<Problem> {
  for (const { object } of pubs) {
    const { apiVersion = '', kind = '', name = '' } = object.spec?.targetRef ?? {};
    const { group } = splitApiVersion(apiVersion);
    if (name === '' || !READ.has(`${group}/${kind}`)) continue;
    if (find(group, kind, object.metadata.namespace ?? '', name) !== undefined) continue;
    const where = source === 'Manifests' ? 'in these files' : 'there';
    yield { object, path: 'spec.targetRef', message: `${kind} "${name}" is not ${where}, so nothing is protected` };
  }
}
