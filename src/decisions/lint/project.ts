import type { KubeObject } from '../../api/resource.ts';
import { fromKruise, type KruiseLeaderWorkerSet, LWS } from '../../api/lws/types.ts';
import { type GroupSource, JOB_NAME, JOBSET } from '../disruption/index.ts';
import { ownerOf, planPod } from './planned-pod.ts';
import type { LintPod, PodSet, Scale } from './pod-set.ts';
import { countAt, type Fields, fieldsAt, fieldsOf, itemsOf, textsOf } from './shapes.ts';

/** How many pods of a Job, or of each group of a LeaderWorkerSet, must run together; undefined when it asks for no gang. */
export type GangOf = (owner: KubeObject) => number | undefined;

export interface Projection {
  readonly sets: PodSet[];
  readonly pods: LintPod[];
  /** Size and number of groups that only labels mark, by namespace and key. */
  readonly sources: { readonly namespace: string; readonly key: string; readonly source: GroupSource }[];
  /** PodGroups that a controller will make. */
  readonly gangs: PlannedGang[];
}

export interface PlannedGang {
  readonly namespace: string;
  readonly name: string;
  readonly minCount: number;
  /** Shared by the gangs that are replicas of each other. */
  readonly template?: { readonly workload: string; readonly name: string };
}

/** As many pods as Kubernetes supports in one cluster. */
export const MAX_PODS = 150_000;

export class TooManyPodsError extends Error {
  override name = 'TooManyPodsError';
}

/** The pods that manifests lead to. */
export function projectPods(objects: readonly KubeObject[], gangOf: GangOf = () => undefined): Projection {
  const projection: Projection = { sets: [], pods: [], sources: [], gangs: [] };
  for (const object of objects) {
    switch (object.kind) {
      case 'Pod':
        addPod(projection, object);
        break;
      case 'LeaderWorkerSet':
        addLeaderWorkerSet(projection, object, gangOf(object));
        break;
      case 'JobSet':
        addJobSet(projection, object);
        break;
      case 'Job':
        addJob(projection, object, { spec: specOf(object), path: 'spec', gang: gangOf(object) });
        break;
      case 'CronJob':
        addJob(projection, object, {
          spec: fieldsAt(specOf(object), 'jobTemplate', 'spec'),
          path: 'spec.jobTemplate.spec',
          gang: undefined,
        });
        break;
      default:
        addReplicas(projection, object);
    }
  }
  return projection;
}

const specOf = (object: KubeObject): Fields => fieldsOf((object as { spec?: unknown }).spec);
const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? '';
const labelsOf = (template: Fields): Record<string, string> => textsOf(fieldsOf(template['metadata'])['labels']);

function addPod({ pods, sets }: Projection, object: KubeObject): void {
  const set: PodSet = { root: object, path: '', labels: object.metadata.labels ?? {}, scale: 'None', managed: false };
  sets.push(set);
  pods.push(
    planPod({
      namespace: namespaceOf(object),
      name: `Pod/${object.metadata.name ?? ''}`,
      set,
      template: fieldsOf(object),
    }),
  );
}

/** Anything with a pod template. A DaemonSet has as many pods as nodes, which no manifest says. */
function addReplicas(projection: Projection, root: KubeObject): void {
  const spec = specOf(root);
  const template = fieldsOf(spec['template']);
  if (typeof fieldsOf(template['spec'])['containers'] !== 'object') return;
  const replicas = countAt(spec['replicas'], 1);
  const isScaled = spec['replicas'] !== undefined || SCALED.has(root.kind ?? '');
  const scale: Scale = root.kind === 'DaemonSet' ? 'None' : isScaled ? replicas : 'Unknown';
  const set: PodSet = { root, path: 'spec.template', labels: labelsOf(template), scale, managed: true };
  const namespace = namespaceOf(root);
  const { apiVersion = '', kind = '', metadata } = root;
  const owner = ownerOf(apiVersion, kind, namespace, metadata.name ?? '');
  projection.sets.push(set);
  addMany(projection, root.kind === 'DaemonSet' ? 1 : replicas, (at) =>
    planPod({ namespace, name: `${kind}/${metadata.name}/${at}`, set, template, owner }),
  );
}

const SCALED = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController', 'CloneSet', 'Rollout']);

interface JobPlan {
  readonly spec: Fields;
  readonly path: string;
  readonly gang: number | undefined;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function addJob(projection: Projection, root: KubeObject, plan: JobPlan): void {
  const { gang, labels = {}, name = root.metadata.name ?? '', path, spec } = plan;
  const template = fieldsOf(spec['template']);
  const namespace = namespaceOf(root);
  const parallelism = countAt(spec['parallelism'], 1);
  const size = Math.min(parallelism, countAt(spec['completions'], parallelism));
  const all = { ...labels, [JOB_NAME]: name };
  const set: PodSet = {
    root,
    path: `${path}.template`,
    labels: { ...labelsOf(template), ...all },
    scale: 'None',
    managed: true,
  };
  const podGroupName = gang === undefined ? undefined : `Job/${name}`;
  if (podGroupName !== undefined) projection.gangs.push({ namespace, name: podGroupName, minCount: gang as number });
  projection.sources.push({ namespace, key: `Job/${name}`, source: { size } });
  projection.sets.push(set);
  const owner = ownerOf('batch/v1', 'Job', namespace, name);
  addMany(projection, size, (at) =>
    planPod({ namespace, name: `Job/${name}/${at}`, set, template, labels: all, owner, podGroupName }),
  );
}

function addJobSet(projection: Projection, root: KubeObject): void {
  for (const [position, item] of itemsOf(specOf(root)['replicatedJobs']).entries()) {
    const job = fieldsOf(item);
    const jobName = typeof job['name'] === 'string' ? job['name'] : '';
    const replicas = countAt(job['replicas'], 1);
    const spec = fieldsAt(job, 'template', 'spec');
    for (let index = 0; index < replicas; index += 1) {
      guard(projection, 1);
      addJob(projection, root, {
        spec,
        path: `spec.replicatedJobs[${position}].template.spec`,
        gang: undefined,
        name: `${root.metadata.name}-${jobName}-${index}`,
        labels: {
          [JOBSET.name]: root.metadata.name ?? '',
          [JOBSET.replicatedJob]: jobName,
          [JOBSET.replicas]: String(replicas),
          [JOBSET.jobIndex]: String(index),
        },
      });
    }
  }
}

/** The leaders are one StatefulSet, the workers of each group another. */
function addLeaderWorkerSet(projection: Projection, root: KubeObject, gang: number | undefined): void {
  const kruise = (root.apiVersion ?? '').startsWith('apps.kruise.io/');
  const { spec } = kruise ? fromKruise(root as KruiseLeaderWorkerSet) : (root as { spec?: unknown });
  const inner = fieldsAt(spec, 'leaderWorkerTemplate');
  const size = countAt(inner['size'], 1);
  const replicas = countAt(fieldsOf(spec)['replicas'], 1);
  const worker = fieldsOf(inner['workerTemplate']);
  const hasLeader = inner['leaderTemplate'] !== undefined;
  const leader = hasLeader ? fieldsOf(inner['leaderTemplate']) : worker;
  const base = kruise ? 'spec' : 'spec.leaderWorkerTemplate';
  const name = root.metadata.name ?? '';
  const namespace = namespaceOf(root);
  const set = (template: Fields, field: string, scale: number): PodSet => ({
    root,
    path: `${base}.${field}`,
    labels: { ...labelsOf(template), [LWS.name]: name },
    scale,
    managed: true,
  });
  const leaders = set(leader, hasLeader ? 'leaderTemplate' : 'workerTemplate', replicas);
  const workers = set(worker, 'workerTemplate', replicas * Math.max(0, size - 1));
  projection.sources.push({ namespace, key: `LeaderWorkerSet/${name}`, source: { replicas, size } });
  projection.sets.push(leaders, ...(size > 1 ? [workers] : []));
  guard(projection, replicas * size);
  for (let group = 0; group < replicas; group += 1) {
    const podGroupName = gang === undefined ? undefined : `LeaderWorkerSet/${name}/${group}`;
    if (podGroupName !== undefined) {
      const template = { workload: `LeaderWorkerSet/${name}`, name: 'replica' };
      projection.gangs.push({ namespace, name: podGroupName, minCount: gang as number, template });
    }
    for (let index = 0; index < size; index += 1) {
      const statefulSet = index === 0 ? name : `${name}-${group}`;
      projection.pods.push(
        planPod({
          namespace,
          name: `LeaderWorkerSet/${name}/${group}/${index}`,
          set: index === 0 ? leaders : workers,
          template: index === 0 ? leader : worker,
          labels: {
            [LWS.name]: name,
            [LWS.groupIndex]: String(group),
            [LWS.groupKey]: `${name}-${group}`,
            [LWS.workerIndex]: String(index),
          },
          annotations: { [LWS.size]: String(size) },
          owner: ownerOf('apps/v1', 'StatefulSet', namespace, statefulSet),
          podGroupName,
        }),
      );
    }
  }
}

function addMany(projection: Projection, count: number, make: (at: number) => LintPod): void {
  guard(projection, count);
  for (let at = 0; at < count; at += 1) projection.pods.push(make(at));
}

function guard({ pods }: Projection, more: number): void {
  if (pods.length + more > MAX_PODS) {
    throw new TooManyPodsError(`these manifests ask for more than ${MAX_PODS} pods, more than one cluster can run`);
  }
}
