import {
  FEATURE_NAMES,
  OPTIONAL_FEATURES,
  OWN_KINDS,
  type OptionalFeature,
  type Rights,
} from '../../api/crds/index.ts';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import { LIFECYCLE_GROUP } from '../../api/lifecycle/index.ts';
import { READ, READ_SCALES, rule } from '../../api/policy-rule.ts';
import type { ResourceType } from '../../api/resource.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import { controllerRights } from '../../controllers/quorate/index.ts';
import {
  CERTIFICATE_SECRET,
  EVICTIONS_CONFIGURATION,
  type InstallOptions,
  LINK_CONFIGURATION,
  labels,
  METRICS_READER,
  NAME,
  NOTICE_ACCESS,
  RECREATE,
  STATUS_CONFIGURATION,
  TOKEN_SECRET,
  WEBHOOK_CONFIGURATION,
} from './options.ts';

const ADMISSION = ['admissionregistration.k8s.io'];

/** Rules for a kind of our own. */
function rightsTo({ group, plural }: ResourceType, { verbs, writesStatus }: Rights): PolicyRule[] {
  const objects = rule([group], [plural], [...verbs]);
  return writesStatus ? [objects, rule([group], [`${plural}/status`], ['update', 'patch'])] : [objects];
}

/** What every installation may do on the whole cluster: read what it counts, write its own objects and events. */
const CLUSTER_RULES: readonly PolicyRule[] = [
  rule([''], ['pods', 'nodes', 'replicationcontrollers', 'namespaces'], READ),
  rule(['apps'], ['replicasets', 'deployments', 'statefulsets'], READ),
  rule(['batch'], ['jobs'], READ),
  rule(['policy'], ['poddisruptionbudgets'], READ),
  // Numbers of ours; alongside, the end of those that another mode has left.
  rule(['policy'], ['poddisruptionbudgets/status'], ['patch']),
  ...ownRules(undefined),
  ...controllerRights(undefined),
  // Who reads metrics, and whether they may.
  rule(['authentication.k8s.io'], ['tokenreviews'], ['create']),
  rule(['authorization.k8s.io'], ['subjectaccessreviews'], ['create']),
  rule([SCHEDULING_GROUP, OWN_SCHEDULING_GROUP], ['workloads', 'podgroups', 'compositepodgroups'], READ),
  rule([''], ['events'], ['create', 'patch']),
  rule(ADMISSION, ['validatingwebhookconfigurations'], [...READ, 'patch'], [WEBHOOK_CONFIGURATION]),
  rule(
    ADMISSION,
    ['mutatingwebhookconfigurations'],
    [...READ, 'patch'],
    [EVICTIONS_CONFIGURATION, STATUS_CONFIGURATION, LINK_CONFIGURATION],
  ),
];

/** What a feature needs that no controller of ours does: volumes keep pods from nodes. */
const FEATURE_RULES: Readonly<Partial<Record<OptionalFeature, readonly PolicyRule[]>>> = {
  capacity: [
    rule([''], ['persistentvolumes', 'persistentvolumeclaims'], READ),
    rule(['storage.k8s.io'], ['storageclasses'], READ),
  ],
};

interface FeatureRole {
  readonly name: string;
  readonly isOn: (options: InstallOptions) => boolean;
  readonly rules: (options: InstallOptions) => readonly PolicyRule[];
}

/** What else a feature needs, in a role of its own: no pod is written that no feature needs to which is on. */
const FEATURE_ROLES: readonly FeatureRole[] = [
  {
    name: 'quorate-replace',
    isOn: ({ mode }) => mode === 'replace',
    // What Kubernetes' own controller does where it runs: count pods, and take back that a pod was to go.
    rules: () => [
      READ_SCALES,
      rule(['policy'], ['poddisruptionbudgets/status'], ['update']),
      rule([''], ['pods/status'], ['update']),
    ],
  },
  ...OPTIONAL_FEATURES.map((feature) => ({
    name: `quorate-${FEATURE_NAMES[feature]}`,
    isOn: (options: InstallOptions) => options[feature],
    rules: (options: InstallOptions) => [
      ...ownRules(feature),
      ...controllerRights(feature, (other) => options[other]),
      ...(FEATURE_RULES[feature] ?? []),
    ],
  })),
  {
    name: 'quorate-reservations',
    isOn: ({ reservations }) => reservations,
    // Placeholders, made and removed; the members whose room they hold are promised it.
    rules: () => [
      rule([''], ['pods'], ['create', 'delete']),
      rule([''], ['pods/status'], ['patch']),
      rule(['scheduling.k8s.io'], ['priorityclasses'], ['get', 'create']),
    ],
  },
];

function ownRules(of: OptionalFeature | undefined): PolicyRule[] {
  return OWN_KINDS.filter(({ feature }) => feature === of).flatMap(({ operator, type }) => rightsTo(type, operator));
}

/** The roles of the features that are on, each bound to the operator. */
export function featureAccess(options: InstallOptions): (ClusterRole | ClusterRoleBinding)[] {
  return FEATURE_ROLES.filter(({ isOn }) => isOn(options)).flatMap(({ name, rules }) =>
    boundRole(name, rules(options), options.namespace),
  );
}

/** Everything that the operator may do on the whole cluster. */
export function clusterRules(options: InstallOptions): readonly PolicyRule[] {
  return [
    ...CLUSTER_RULES,
    ...FEATURE_ROLES.filter(({ isOn }) => isOn(options)).flatMap(({ rules }) => rules(options)),
  ];
}

function boundRole(name: string, rules: readonly PolicyRule[], namespace: string): [ClusterRole, ClusterRoleBinding] {
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name, labels },
      rules: [...rules],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace }],
    },
  ];
}

/** Bound to whoever reads metrics; to nobody at first. */
function metricsReader(): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: METRICS_READER, labels },
    rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  };
}

/** Of its own and applied last: whoever removes an installation takes this right first, so that nothing comes back. */
export function recreateAccess({ namespace }: InstallOptions): [ClusterRole, ClusterRoleBinding] {
  const kinds = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
  return boundRole(RECREATE, [rule(ADMISSION, kinds, ['create'])], namespace);
}

/** What Kubernetes lets the roles of users do with requests where it serves them itself: Evictions are its own affair. */
export function requestAccess(): ClusterRole[] {
  const roles = [
    ['view', READ, ['evictionrequests', 'evictions']],
    ['edit', ['create', 'delete', 'deletecollection', 'patch', 'update'], ['evictionrequests']],
  ] as const;
  return roles.map(([role, verbs, resources]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `quorate-eviction-requests-${role}`,
      labels: { ...labels, [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' },
    },
    rules: [rule([LIFECYCLE_GROUP], [...resources], [...verbs])],
  }));
}

/** One Secret by name, and no other: for headers of notices, in the namespaces of their policies. */
export function noticeAccess({ groupEvictions, namespace, noticeSecrets }: InstallOptions): (Role | RoleBinding)[] {
  const names = new Map<string, string[]>();
  for (const one of groupEvictions ? noticeSecrets : []) {
    const [place = '', name = ''] = one.split('/');
    names.set(place, [...(names.get(place) ?? []), name]);
  }
  return [...names].flatMap(([place, secrets]): (Role | RoleBinding)[] => [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: NOTICE_ACCESS, namespace: place, labels },
      rules: [rule([''], ['secrets'], ['get'], secrets)],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: NOTICE_ACCESS, namespace: place, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NOTICE_ACCESS },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace }],
    },
  ]);
}

export function accessObjects(
  options: InstallOptions,
): [ClusterRole, ClusterRoleBinding, Role, RoleBinding, ClusterRole] {
  const { namespace } = options;
  const subject = { kind: 'ServiceAccount', name: NAME, namespace };
  return [
    ...boundRole(NAME, CLUSTER_RULES, namespace),
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: NAME, namespace, labels },
      rules: [
        rule(['coordination.k8s.io'], ['leases'], ['create']),
        rule(['coordination.k8s.io'], ['leases'], ['get', 'update'], [NAME]),
        rule([''], ['secrets'], ['create']),
        rule([''], ['secrets'], ['get', 'update'], [CERTIFICATE_SECRET, TOKEN_SECRET]),
        // Whether somebody would answer, before anything is asked.
        rule(['discovery.k8s.io'], ['endpointslices'], ['list']),
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: NAME, namespace, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
      subjects: [subject],
    },
    metricsReader(),
  ];
}
