/**
 * The FlowSchemas and PriorityLevelConfigurations that every server has: Kubernetes' own names, order and numbers, which
 * people know from their clusters. Two of each are mandatory and cannot be changed, the others are suggested.
 */
import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
  Subject,
} from './generated/flowcontrol-v1.ts';

export const FLOW_CONTROL_GROUP = 'flowcontrol.apiserver.k8s.io';
/** `true` on an object: its spec is brought back to the default at every start. */
export const AUTO_UPDATE_SPEC = 'apf.kubernetes.io/autoupdate-spec';
export const MANDATORY: ReadonlySet<string> = new Set(['catch-all', 'exempt']);

const ALL = ['*'];
const group = (name: string): Subject => ({ kind: 'Group', group: { name } });
const user = (name: string): Subject => ({ kind: 'User', user: { name } });
const KUBE_SYSTEM: Subject = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } };
const NODES = group('system:nodes');
const EVERYBODY = [group('system:unauthenticated'), group('system:authenticated')];
const MANAGER = user('system:kube-controller-manager');
const SCHEDULER = user('system:kube-scheduler');

const anyResource: ResourcePolicyRule = {
  verbs: ALL,
  apiGroups: ALL,
  resources: ALL,
  clusterScope: true,
  namespaces: ALL,
};
const anyPath: NonResourcePolicyRule = { verbs: ALL, nonResourceURLs: ALL };
const leases = (verbs: string[]): ResourcePolicyRule => ({
  verbs,
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  namespaces: ALL,
});
const anything = (subjects: Subject[]): PolicyRulesWithSubjects => ({
  subjects,
  resourceRules: [anyResource],
  nonResourceRules: [anyPath],
});

interface Shares {
  readonly shares: number;
  readonly lendable: number;
  /** Absent: what finds no seat is refused at once. */
  readonly queues?: readonly [queues: number, handSize: number];
}

function limited({ lendable, queues, shares }: Shares): PriorityLevelConfigurationSpec {
  const queuing = queues && { queues: queues[0], handSize: queues[1], queueLengthLimit: 50 };
  return {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      limitResponse: queuing === undefined ? { type: 'Reject' } : { type: 'Queue', queuing },
      lendablePercent: lendable,
    },
  };
}

const LEVELS: Readonly<Record<string, PriorityLevelConfigurationSpec>> = {
  'catch-all': limited({ shares: 5, lendable: 0 }),
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  system: limited({ shares: 30, lendable: 33, queues: [64, 6] }),
  'node-high': limited({ shares: 40, lendable: 25, queues: [64, 6] }),
  'leader-election': limited({ shares: 10, lendable: 0, queues: [16, 4] }),
  'workload-high': limited({ shares: 40, lendable: 50, queues: [128, 6] }),
  'workload-low': limited({ shares: 100, lendable: 90, queues: [128, 6] }),
  'global-default': limited({ shares: 20, lendable: 50, queues: [128, 6] }),
};

type Row = readonly [name: string, level: string, precedence: number, by: string | undefined, PolicyRulesWithSubjects];

const SCHEMAS: readonly Row[] = [
  ['exempt', 'exempt', 1, undefined, anything([group('system:masters')])],
  ['catch-all', 'catch-all', 10_000, 'ByUser', anything(EVERYBODY)],
  ['system-nodes', 'system', 500, 'ByUser', anything([NODES])],
  [
    'system-node-high',
    'node-high',
    400,
    'ByUser',
    {
      subjects: [NODES],
      resourceRules: [
        { verbs: ALL, apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ALL },
        leases(ALL),
      ],
    },
  ],
  [
    'probes',
    'exempt',
    2,
    undefined,
    { subjects: EVERYBODY, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] },
  ],
  [
    'system-leader-election',
    'leader-election',
    100,
    'ByUser',
    { subjects: [MANAGER, SCHEDULER, KUBE_SYSTEM], resourceRules: [leases(['get', 'create', 'update'])] },
  ],
  ['kube-controller-manager', 'workload-high', 800, 'ByNamespace', anything([MANAGER])],
  ['kube-scheduler', 'workload-high', 800, 'ByNamespace', anything([SCHEDULER])],
  ['kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', anything([KUBE_SYSTEM])],
  ['service-accounts', 'workload-low', 9000, 'ByUser', anything([group('system:serviceaccounts')])],
  ['global-default', 'global-default', 9900, 'ByUser', anything(EVERYBODY)],
];

const metadataOf = (name: string) => ({ name, annotations: { [AUTO_UPDATE_SPEC]: 'true' } });

export const defaultPriorityLevels: readonly PriorityLevelConfiguration[] = Object.entries(LEVELS).map(
  ([name, spec]) => ({ metadata: metadataOf(name), spec }),
);

export const defaultFlowSchemas: readonly FlowSchema[] = SCHEMAS.map(([name, level, precedence, by, rule]) => {
  const spec: FlowSchemaSpec = {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(by !== undefined && { distinguisherMethod: { type: by } }),
    rules: [rule],
  };
  return { metadata: metadataOf(name), spec };
});
