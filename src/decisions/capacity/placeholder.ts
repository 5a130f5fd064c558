import type { Container, ContainerPort, Pod } from '../../api/generated/core-v1.ts';
import type { PriorityClass } from '../../api/generated/scheduling-v1.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { HOLD_LABEL, type HoldingBudget, type RoomAsk } from '../disruption/index.ts';
import { sumRequests } from '../placement/index.ts';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
/** The unit that room is held for. */
export const HOLD_FOR = 'policy.quorate.dev/hold-for';
export const HOLD_UNTIL = 'policy.quorate.dev/hold-until';
/** UID of the pod whose eviction was granted with it: while that one stands, nothing of the unit has gone. */
export const HOLD_GRANT = 'policy.quorate.dev/hold-grant';
/** The members that stood when the room was held, by the beginning of their UIDs: all others have come since. */
export const HOLD_MEMBERS = 'policy.quorate.dev/hold-members';
/** How many places were held for the unit. */
export const HOLD_SIZE = 'policy.quorate.dev/hold-size';

/** All placeholders begin with it. */
export const HOLD_PREFIX = 'quorate-hold-';

const DEFAULT_HOLD_IMAGE = 'registry.k8s.io/pause:3.10';

/** Kubelet ends a placeholder so long after its time, even if nobody else does. */
const GRACE_SECONDS = 60;
/** Users may not make classes above this. */
const HIGHEST_PRIORITY = 1_000_000_000;
/** Below what says nothing, and above what a cluster autoscaler takes for expendable. */
const LOW_PRIORITY = -5;
/** Of one unit. */
const MAX_PLACEHOLDERS = 256;
/** Of all units together, and how many of them. */
const MAX_IN_CLUSTER = 2_000;
const MAX_UNITS = 64;

/** A member that needs room, and the node where it was found. */
export interface HeldMember {
  readonly pod: Pod;
  readonly node: string;
}

export interface HoldAsk {
  readonly unit: string;
  readonly budget: HoldingBudget;
  readonly members: readonly HeldMember[];
  /** UID of the pod that is evicted. */
  readonly grant: string;
  /** UIDs of the unit's members now. */
  readonly standing: readonly string[];
  readonly now: number;
  readonly forMs: number;
  /** Placeholders give way to nearly everything; as important as the unit otherwise. */
  readonly low?: boolean | undefined;
  /** What is held for other units. */
  readonly others: { readonly placeholders: number; readonly units: number };
}

export type HoldPlan =
  | { readonly made: true; readonly placeholders: readonly Pod[]; readonly priority: number }
  | { readonly made: false; readonly text: string };

/** The class that gives placeholders the priority of what they stand for, and lets them push nobody out. */
const holdClassName = (priority: number): string =>
  priority === LOW_PRIORITY ? 'quorate-hold-low' : `quorate-hold-${priority}`;

export const holdClassObject = (priority: number): PriorityClass => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: holdClassName(priority), labels: { [MANAGED_BY]: 'quorate' } },
  value: priority,
  preemptionPolicy: 'Never',
  description: 'Pods that hold room for groups of this priority',
});

/**
 * The pods that hold room for a unit: as large as its members, on the nodes found for them, as important as the least
 * important of them, and never pushing anybody out. Lower would not do: a pod that fills gaps pushes out what is less
 * important and takes the room; who asks for low ones has it so. They carry none of the members' labels, so nothing counts or serves them.
 */
export function planHold({ budget, forMs, grant, low, members, now, others, standing, unit }: HoldAsk): HoldPlan {
  const failed = (text: string): HoldPlan => ({ made: false, text: `ReserveFailed: ${text}` });
  if (members.length > MAX_PLACEHOLDERS)
    return failed(`more than ${MAX_PLACEHOLDERS} pods of one group cannot be held`);
  if (others.units >= MAX_UNITS) return failed(`limit: room is held for ${MAX_UNITS} groups already`);
  if (others.placeholders + members.length > MAX_IN_CLUSTER) {
    return failed(`limit: at most ${MAX_IN_CLUSTER} pods hold room, and ${others.placeholders} do`);
  }
  const claiming = members.find(({ pod }) => (pod.spec?.resourceClaims?.length ?? 0) > 0);
  if (claiming !== undefined) {
    return failed(`the devices that pod ${claiming.pod.metadata.name ?? ''} claims cannot be held`);
  }
  const least = Math.min(...members.map(({ pod }) => pod.spec?.priority ?? 0));
  const priority = low === true ? Math.min(LOW_PRIORITY, least) : least;
  if (priority > HIGHEST_PRIORITY) return failed(`no class of priority ${priority} can be made`);
  const placeholders = members.map((member, at): Pod => {
    const until = now + forMs;
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${HOLD_PREFIX}${hashOf(unit)}-${at}`,
        namespace: budget.namespace,
        labels: { [HOLD_LABEL]: 'true', [MANAGED_BY]: 'quorate' },
        annotations: {
          [HOLD_FOR]: unit,
          [HOLD_UNTIL]: formatTime(until),
          [HOLD_GRANT]: grant,
          [HOLD_SIZE]: String(members.length),
          [HOLD_MEMBERS]: standing.map(shortUid).join(','),
          'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
          'karpenter.sh/do-not-disrupt': 'true',
        },
        ownerReferences: [
          {
            apiVersion: budget.apiVersion,
            kind: budget.kind,
            name: budget.name,
            uid: budget.uid,
            blockOwnerDeletion: false,
          },
        ],
      },
      spec: specOf(member, { priority, seconds: Math.ceil(forMs / 1000) + GRACE_SECONDS }),
    };
  });
  return { made: true, placeholders, priority };
}

/** A placeholder is there for the second time, on another node: there is no third. */
export const HOLD_REPLACED = 'policy.quorate.dev/hold-replaced';

export const isReplacement = ({ metadata }: Pick<Pod, 'metadata'>): boolean =>
  metadata.annotations?.[HOLD_REPLACED] === 'true';

/** The placeholder that takes the place of one whose room was lost. It waits for the scheduler, as all do on a cluster. */
export function placeholderAgain(lost: Pod, member: HeldMember & { readonly seconds: number }): Pod {
  const { annotations, labels, name, namespace, ownerReferences } = lost.metadata;
  const {
    priority = 0,
    activeDeadlineSeconds: seconds = GRACE_SECONDS,
    priorityClassName,
  } = lost.spec ?? { containers: [] };
  const made = specOf(member, { priority, seconds });
  const { nodeName: _, ...spec } = made ?? { containers: [] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(ownerReferences && { ownerReferences }),
      annotations: { ...annotations, [HOLD_REPLACED]: 'true' },
    },
    spec: { ...spec, ...(priorityClassName !== undefined && { priorityClassName }) },
  };
}

function specOf({ node, pod }: HeldMember, { priority, seconds }: { priority: number; seconds: number }): Pod['spec'] {
  const { overhead, runtimeClassName, schedulerName, tolerations } = pod.spec ?? {};
  // Overhead is added again where the runtime class is the same.
  const amounts = sumRequests({ metadata: {}, spec: { ...pod.spec, overhead: undefined } as Pod['spec'] });
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  for (const [name, amount] of amounts) {
    if (amount === 0) continue;
    requests[name] = name === 'cpu' ? `${amount}m` : String(amount);
    if (name.includes('/') || name.startsWith('hugepages-')) limits[name] = requests[name];
  }
  const ports = (pod.spec?.containers ?? [])
    .flatMap((container) => container.ports ?? [])
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(
      ({ containerPort, hostIP, hostPort, protocol }): ContainerPort => ({
        containerPort,
        hostPort,
        ...(hostIP !== undefined && { hostIP }),
        ...(protocol !== undefined && { protocol }),
      }),
    );
  const holder: Container = {
    name: 'hold',
    image: DEFAULT_HOLD_IMAGE,
    resources: { requests, limits },
    ...(ports.length > 0 && { ports }),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      runAsUser: 65535,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
  const byName = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  return {
    containers: [holder],
    nodeName: node,
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [byName] } } },
    priorityClassName: holdClassName(priority),
    priority,
    preemptionPolicy: 'Never',
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    activeDeadlineSeconds: seconds,
    automountServiceAccountToken: false,
    ...(tolerations !== undefined && { tolerations }),
    ...(schedulerName !== undefined && { schedulerName }),
    ...(runtimeClassName !== undefined && { runtimeClassName }),
    ...(runtimeClassName !== undefined && overhead !== undefined && { overhead }),
  };
}

/** Eight letters that tell units apart, the same on every replica. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return hash.toString(16).padStart(16, '0').slice(0, 8);
}

/** Enough of a UID to tell the members of one unit apart. */
export const shortUid = (uid: string): string => uid.slice(0, 8);

/** Whether a placeholder stands for the same pods under another name: budgets of both kinds may want them held. */
export function holdsElsewhere(
  { metadata }: Pick<Pod, 'metadata'>,
  { members, unit }: Pick<RoomAsk, 'members' | 'unit'>,
): boolean {
  if (metadata.annotations?.[HOLD_FOR] === unit) return false;
  const before = new Set(metadata.annotations?.[HOLD_MEMBERS]?.split(','));
  return members.some(({ uid }) => before.has(shortUid(uid)));
}

/** Whether a pod holds room for a unit, and was made by us. */
export function isPlaceholder({ metadata }: Pick<Pod, 'metadata'>): boolean {
  return metadata.labels?.[HOLD_LABEL] === 'true' && metadata.labels[MANAGED_BY] === 'quorate';
}
