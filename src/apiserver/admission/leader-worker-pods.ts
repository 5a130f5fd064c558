import type { Pod } from '../../api/generated/core-v1.ts';
import { gangOf, markLeaderWorkerPod } from '../../api/lws/pod-marks.ts';
import { kruiseLeaderWorkerSetType, leaderWorkerSetType, LWS } from '../../api/lws/types.ts';
import { SCHEDULING_GROUP, type StoredPodGroupSpec, type StoredWorkload } from '../../api/scheduling/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import { forbidden } from '../exchange/status.ts';
import { objectKey, type Resource } from '../registry/resource.ts';
import { putObject } from '../stored/encoding.ts';
import { readStored } from '../stored/kind-view.ts';
import { initMetadata } from '../stored/metadata.ts';

/**
 * Numbers the pods of LeaderWorkerSets as they are created; on a cluster its own webhook does that. In a set of gangs no
 * pod names a PodGroup that is not there: a leader and its PodGroup are one write, and nobody joins one that is going.
 */
export const leaderWorkerPods = (context: ServerContext): AdmissionPlugin => ({
  name: 'LeaderWorkerSetPods',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' && resource.group === '' && resource.plural === 'pods' && subresource === undefined,
  admit({ namespace = '', object }) {
    const pod = object as Pod;
    const name = pod.metadata.labels?.[LWS.name];
    if (name !== undefined && isOurs(context, namespace, name)) markLeaderWorkerPod(pod, namespace, context.random);
  },
  inTransaction({ namespace = '', object, resource }, transaction) {
    const pod = object as Pod;
    const name = gangOf(pod);
    const groups = context.registry.byPlural(SCHEDULING_GROUP, 'podgroups');
    if (name === undefined || pod.metadata.labels?.[LWS.name] === undefined || groups === undefined) return;
    const entry = transaction.get(objectKey(groups, namespace, name));
    if (entry === undefined) makeGang(context, transaction, { groups, namespace, name, pod });
    else if (context.objects.readWithoutManagedFields(entry).metadata.deletionTimestamp)
      throw forbidden(resource, pod.metadata.name, `pod group "${name}" is being deleted`);
  },
});

/** Whether pods of the set are ours to number: not where other software has brought the kind itself. */
function isOurs(context: ServerContext, namespace: string, name: string): boolean {
  if (servesOwn(context, leaderWorkerSetType)) return true;
  return (
    servesOwn(context, kruiseLeaderWorkerSetType) &&
    readStored(context, kruiseLeaderWorkerSetType, namespace, name) !== undefined
  );
}

const servesOwn = ({ registry }: ServerContext, { group, plural }: { group: string; plural: string }): boolean =>
  registry.servesOwn(group, plural);

interface Gang {
  readonly groups: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly pod: Pod;
}

/** Makes a leader's PodGroup from the template of its set's Workload, as the controller of the set would. */
function makeGang(context: ServerContext, transaction: Transaction, { groups, name, namespace, pod }: Gang): void {
  const { annotations, labels = {} } = pod.metadata;
  const workloads = context.registry.byPlural(SCHEDULING_GROUP, 'workloads');
  const workloadName = annotations?.[LWS.workloadName] ?? '';
  const entry = workloads && transaction.get(objectKey(workloads, namespace, workloadName));
  const workload = entry && context.objects.readWithoutManagedFields(entry);
  const [template] = (workload as Partial<StoredWorkload> | undefined)?.spec?.podGroupTemplates ?? [];
  // Without its Workload nothing says what the group is; the controller makes both.
  if (workload === undefined || template === undefined || workload.metadata.deletionTimestamp) return;
  const { name: templateName, replicas: _, ...terms } = template;
  const { priority } = pod.spec ?? {};
  const spec: StoredPodGroupSpec = {
    workloadRef: { workloadName, templateName },
    ...terms,
    ...(priority !== undefined && { priority }),
  };
  const owner = { apiVersion: `${SCHEDULING_GROUP}/v1beta1`, kind: 'Workload', name: workloadName };
  const copied = [LWS.name, LWS.groupIndex, LWS.revision].map((key): [string, string] => [key, labels[key] ?? '']);
  const object = {
    metadata: {
      name,
      namespace,
      labels: Object.fromEntries(copied),
      ownerReferences: [...(workload.metadata.ownerReferences ?? []), { ...owner, uid: workload.metadata.uid ?? '' }],
    },
    spec,
  } as ApiObject;
  const now = context.clock.now();
  initMetadata(groups, object.metadata, { now, uid: context.newUid() });
  groups.strategy.prepareForCreate?.(object, { now, random: context.random });
  groups.strategy.defaults?.(object);
  const { version } = groups.stored;
  const managedFields = context.codec.fields?.createdEntries({
    resource: groups,
    version,
    object,
    manager: 'leaderworkerset',
    now,
  });
  putObject(context, transaction, { resource: groups, key: objectKey(groups, namespace, name), object, managedFields });
}
