/** What a dashboard reads, and what is left out of it: everything that no decision looks at. */
import type { Container, Node, Pod } from '../../api/generated/core-v1.ts';
import { leaderWorkerSetType } from '../../api/lws/types.ts';
import { maintenanceType } from '../../api/quorate/maintenance.ts';
import { disruptionLedgerType } from '../../api/quorate/types.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { namespaceType, nodeType } from '../../api/resource-types.ts';
import { FED_KINDS } from '../../decisions/disruption/index.ts';
import { UNAVAILABILITY_KINDS } from '../../decisions/unavailability/index.ts';

export interface ShownKind {
  readonly kind: string;
  /** Where its objects are read, best first. */
  readonly types: readonly ResourceType[];
}

const others: readonly ShownKind[] = [
  { kind: 'Node', types: [nodeType as ResourceType] },
  { kind: 'Namespace', types: [namespaceType as ResourceType] },
  { kind: 'LeaderWorkerSet', types: [leaderWorkerSetType as ResourceType] },
  { kind: 'DisruptionLedger', types: [disruptionLedgerType as ResourceType] },
  { kind: 'Maintenance', types: [maintenanceType as ResourceType] },
];

/** Every kind once, in the order in which a page should get to know them: pods last. */
export const SHOWN_KINDS: readonly ShownKind[] = [
  ...new Map(
    [...others, ...FED_KINDS, ...UNAVAILABILITY_KINDS]
      .sort((a, b) => Number(a.kind === 'Pod') - Number(b.kind === 'Pod'))
      .map(({ kind }, _, rows) => [kind, { kind, types: rows.flatMap((row) => (row.kind === kind ? row.types : [])) }]),
  ).values(),
];

/** Bulky, written by clients for themselves. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** What a page is told of an object. */
export function slim(object: KubeObject): object {
  const { kind, metadata, ...rest } = object as KubeObject & { spec?: { template?: unknown }; status?: unknown };
  const { annotations, name, namespace, uid, generation, labels, creationTimestamp, deletionTimestamp } = metadata;
  const { ownerReferences } = metadata as { ownerReferences?: { controller?: boolean }[] };
  const kept = {
    name,
    namespace,
    uid,
    generation,
    labels,
    creationTimestamp,
    deletionTimestamp: deletionTimestamp ?? undefined,
    annotations: withoutLastApplied(annotations),
    ownerReferences: ownerReferences?.filter(({ controller }) => controller === true || kind === 'DisruptionLedger'),
  };
  if (kind === 'Pod') return { metadata: kept, ...slimPod(object as Pod) };
  if (kind === 'Node') return { metadata: { ...kept, annotations: undefined }, ...slimNode(object as Node) };
  const { spec, ...others } = rest;
  // Of what makes pods only its size matters here; templates are the bulk.
  const { template: _template, ...small } = spec ?? {};
  return { apiVersion: object.apiVersion, kind, ...others, metadata: kept, spec: small };
}

function withoutLastApplied(annotations: Record<string, string> | undefined): Record<string, string> | undefined {
  if (annotations === undefined) return undefined;
  const { [LAST_APPLIED]: _, ...kept } = annotations;
  return kept;
}

const CONDITIONS: ReadonlySet<string> = new Set(['Ready', 'DisruptionTarget', 'PodScheduled']);

function slimPod({ spec, status }: Pod): object {
  const { containers = [], initContainers, nodeName } = spec ?? {};
  const { schedulingGroup, workload, workloadRef, workloadReference } = (spec ?? {}) as Record<string, unknown>;
  return {
    spec: {
      ...placementOf(spec),
      nodeName,
      schedulingGroup,
      workload,
      workloadRef,
      workloadReference,
      containers: containers.map(slimContainer),
      initContainers: initContainers?.map(slimContainer),
    },
    status: {
      phase: status?.phase,
      conditions: status?.conditions
        ?.filter(({ type }) => CONDITIONS.has(type))
        .map(({ type, status: value, reason, message, lastTransitionTime }) => ({
          type,
          status: value,
          reason,
          // Only why a pod does not run is for people.
          message: value === 'True' ? undefined : message,
          lastTransitionTime,
        })),
      containerStatuses: status?.containerStatuses?.map(({ image, imageID, name }) => ({ name, image, imageID })),
    },
  };
}

/** Every pod is given these, and they say nothing about where it may go. */
const GIVEN_TOLERATIONS: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready/NoExecute',
  'node.kubernetes.io/unreachable/NoExecute',
]);

/**
 * What plans go by when they ask where a pod could go: they shall answer here as everywhere. Volumes and device claims are
 * left out with the objects that they name: many, and of use only together.
 */
function placementOf(spec: Pod['spec']): object {
  if (spec === undefined) return {};
  const tolerations = spec.tolerations?.filter(
    ({ effect, key, tolerationSeconds }) => tolerationSeconds == null || !GIVEN_TOLERATIONS.has(`${key}/${effect}`),
  );
  const { affinity, hostNetwork, nodeSelector, overhead, preemptionPolicy, priority, resources } = spec;
  return {
    affinity,
    hostNetwork,
    nodeSelector,
    overhead,
    preemptionPolicy: preemptionPolicy === 'Never' ? preemptionPolicy : undefined,
    priority: priority || undefined,
    resources,
    schedulerName: spec.schedulerName === 'default-scheduler' ? undefined : spec.schedulerName,
    schedulingGates: spec.schedulingGates,
    terminationGracePeriodSeconds:
      spec.terminationGracePeriodSeconds === 30 ? undefined : spec.terminationGracePeriodSeconds,
    tolerations: tolerations?.length ? tolerations : undefined,
    topologySpreadConstraints: spec.topologySpreadConstraints,
  };
}

/** Sidecars are told by a variable; the rest of the environment is nobody's business here. */
function slimContainer({ env, image, name, ports, resources, restartPolicy }: Container): object {
  const marks = env?.filter((one) => one.name === 'IS_INJECTED') ?? [];
  return {
    name,
    image,
    ...(marks.length > 0 && { env: marks }),
    ...(ports !== undefined && ports.length > 0 && { ports }),
    ...(resources?.requests !== undefined && { resources: { requests: resources.requests } }),
    ...(restartPolicy !== undefined && { restartPolicy }),
  };
}

function slimNode({ spec, status }: Node): object {
  const ready = status?.conditions?.filter(({ type }) => type === 'Ready');
  return {
    spec: { unschedulable: spec?.unschedulable, taints: spec?.taints },
    status: {
      allocatable: status?.allocatable,
      conditions: ready?.map(({ type, status: value, lastTransitionTime }) => ({
        type,
        status: value,
        lastTransitionTime,
      })),
    },
  };
}
