import { OWN_KINDS, type OwnKind } from '../../api/crds/index.ts';
import { evictionRequestType, LIFECYCLE_GROUP } from '../../api/lifecycle/index.ts';
import type { RuleWithOperations } from '../../api/generated/admissionregistration-v1.ts';
import type {
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../api/generated/admissionregistration-v1.ts';
import { OWN_SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import { reviewPath } from '../routes.ts';
import {
  EVICTIONS_CONFIGURATION,
  EXEMPT_LABEL,
  IGNORE_LABEL,
  type InstallOptions,
  labels,
  LINK_CONFIGURATION,
  NAMESPACE_ANNOTATION,
  operatorUser,
  SERVICE,
  STATUS_CONFIGURATION,
  WEBHOOK_CONFIGURATION,
} from './options.ts';

/** Where the API server finds the webhook: the Service in a cluster, a URL where there is none. */
export type Reach = { readonly service: string } | { readonly url: string; readonly caBundle: string };

const TIMEOUT_SECONDS = 10;

/** True for replicas that fall to one or more; a Scale leaves a zero out. */
const SHRINKS =
  'has(object.spec.replicas) && has(oldObject.spec.replicas) && object.spec.replicas > 0 && object.spec.replicas < oldObject.spec.replicas';

export type WebhookOptions = Pick<InstallOptions, 'certManager' | 'failOpen' | 'namespace'> &
  Partial<Pick<InstallOptions, 'groupCreation' | 'groups' | 'mode' | 'requestKinds'>> & {
    /** Who the operator is to the API server, where that is not its service account. */
    readonly user?: string | undefined;
    /** Namespaces that are asked about. Default: all but those that never are. */
    readonly guarded?: Guarded | undefined;
    /** Whether updates of pods are asked about as well. Default true. */
    readonly updates?: boolean | undefined;
  };

/**
 * Where requests concern us: evictions under a budget of groups, deletes under a PodUnavailableBudget, new pods where
 * somebody asks for groups.
 */
export interface Guarded {
  readonly evictions: readonly string[];
  readonly pods: readonly string[];
  readonly links: readonly string[];
}

/** What the API server cannot select by: more names make a configuration too large. */
const MOST_NAMESPACES = 2000;

/** The configurations as they are installed: the leading replica fills them once somebody is there to answer. */
export function emptyConfigurations(
  options: Pick<InstallOptions, 'certManager' | 'namespace'>,
): (MutatingWebhookConfiguration | ValidatingWebhookConfiguration)[] {
  const kinds = [
    ['MutatingWebhookConfiguration', EVICTIONS_CONFIGURATION],
    ['MutatingWebhookConfiguration', STATUS_CONFIGURATION],
    ['MutatingWebhookConfiguration', LINK_CONFIGURATION],
    ['ValidatingWebhookConfiguration', WEBHOOK_CONFIGURATION],
  ] as const;
  return kinds.map(([kind, name]) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: configurationMetadata(name, options, { service: SERVICE }),
  }));
}

/** All that the API server is told about us. */
export function webhookConfigurations(
  options: WebhookOptions,
  reach: Reach = { service: SERVICE },
): (MutatingWebhookConfiguration | ValidatingWebhookConfiguration)[] {
  const { groupCreation = false, mode = 'alongside' } = options;
  return [
    evictionWebhook(options, reach),
    ...(mode === 'adopt' ? [statusWebhook(options, reach)] : []),
    ...(groupCreation ? [linkWebhook(options, reach)] : []),
    validatingWebhooks(options, reach),
  ];
}

/** Evictions are judged by a webhook that may change them: it pins them to the pod that it judged. */
function evictionWebhook(options: WebhookOptions, reach: Reach): MutatingWebhookConfiguration {
  const rules = [
    {
      operations: ['CREATE'],
      apiGroups: [''],
      apiVersions: ['v1'],
      resources: ['pods/eviction'],
      scope: 'Namespaced',
    },
  ];
  const webhook = {
    ...webhookFor(options, reach)('evictions', rules, options.guarded?.evictions),
    reinvocationPolicy: 'Never',
    matchConditions: [{ name: 'of-a-pod', expression: "request.name != ''" }],
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: configurationMetadata(EVICTIONS_CONFIGURATION, options, reach),
    webhooks: options.guarded?.evictions.length === 0 ? [] : [webhook],
  };
}

/** The numbers are ours already, or a change of the budget is about to count. */
const CONCERNS_GROUPS = [
  "(has(oldObject.status) && has(oldObject.status.conditions) && oldObject.status.conditions.exists(c, c.type == 'CountsGroups' && c.status == 'True'))",
  '((has(object.status) && has(object.status.observedGeneration) ? object.status.observedGeneration : 0) > (has(oldObject.status) && has(oldObject.status.observedGeneration) ? oldObject.status.observedGeneration : 0))',
].join(' || ');

const STATUS_TIMEOUT_SECONDS = 2;

/**
 * What others write into the status of a budget over groups gets our numbers. Where we do not answer it is written as it
 * is: the eviction webhook still guards, and the leader mends it.
 */
function statusWebhook(options: WebhookOptions, reach: Reach): MutatingWebhookConfiguration {
  const { namespace, user = operatorUser(namespace) } = options;
  const rules = [
    {
      operations: ['UPDATE'],
      apiGroups: ['policy'],
      apiVersions: ['v1'],
      resources: ['poddisruptionbudgets/status'],
      scope: 'Namespaced',
    },
  ];
  const webhook = {
    ...webhookFor(options, reach)('status', rules),
    failurePolicy: 'Ignore',
    timeoutSeconds: STATUS_TIMEOUT_SECONDS,
    reinvocationPolicy: 'Never',
    matchConditions: [
      // What the API server counts itself, with every eviction.
      { name: 'not-an-eviction', expression: "request.userInfo.username != 'system:apiserver'" },
      { name: 'not-our-own', expression: `request.userInfo.username != '${user}'` },
      { name: 'counts-groups-or-lifts-the-barrier', expression: CONCERNS_GROUPS },
    ],
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: configurationMetadata(STATUS_CONFIGURATION, options, reach),
    webhooks: [webhook],
  };
}

/** Pods of owners that may have asked for groups, which are in none. */
const LINK_CONDITIONS = [
  {
    name: 'of-an-owner-that-may-ask',
    expression:
      "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller && o.kind in ['Job', 'StatefulSet', 'LeaderWorkerSet'])",
  },
  { name: 'in-no-group', expression: '!has(object.spec.schedulingGroup)' },
  {
    name: 'in-no-group-by-annotation',
    expression:
      "!has(object.metadata.annotations) || !('groups.quorate.dev/schedulingGroup' in object.metadata.annotations)",
  },
];

const LINK_TIMEOUT_SECONDS = 5;

/**
 * New pods join the groups that their owners have asked for. Asked in namespaces with such an owner only: there, a pod
 * that came without its group could not be given one later.
 */
function linkWebhook(options: WebhookOptions, reach: Reach): MutatingWebhookConfiguration {
  const rules = [
    { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: 'Namespaced' },
  ];
  const webhook = {
    ...webhookFor(options, reach)('link', rules, options.guarded?.links),
    timeoutSeconds: LINK_TIMEOUT_SECONDS,
    reinvocationPolicy: 'Never',
    matchConditions: LINK_CONDITIONS,
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: configurationMetadata(LINK_CONFIGURATION, options, reach),
    webhooks: options.guarded?.links.length === 0 ? [] : [webhook],
  };
}

/** Says that its pods are to be in groups. */
const ASKS_FOR_GROUPS = [
  ...['groups.quorate.dev/create', 'scheduling.quorate.dev/gang'].map(
    (key) => `(has(object.metadata.annotations) && '${key}' in object.metadata.annotations)`,
  ),
  '(has(object.spec) && has(object.spec.scheduling))',
].join(' || ');

/** Those who ask for groups; that nobody answers keeps none of them from being made. */
function ownersWebhook(options: WebhookOptions, reach: Reach): ValidatingWebhook {
  const kinds = [
    ['batch', 'v1', 'jobs'],
    ['jobset.x-k8s.io', 'v1alpha2', 'jobsets'],
    ['leaderworkerset.x-k8s.io', 'v1', 'leaderworkersets'],
    ['apps.kruise.io', 'v1alpha1', 'leaderworkersets'],
  ] as const;
  const rules = kinds.map(([group, version, resource]) => ({
    operations: ['CREATE'],
    apiGroups: [group],
    apiVersions: [version],
    resources: [resource],
    scope: 'Namespaced',
  }));
  return {
    ...webhookFor(options, reach)('owners', rules),
    failurePolicy: 'Ignore',
    matchConditions: [{ name: 'asks-for-groups', expression: ASKS_FOR_GROUPS }],
  };
}

function configurationMetadata(
  name: string,
  { certManager, namespace }: Pick<WebhookOptions, 'certManager' | 'namespace'>,
  reach: Reach,
): ValidatingWebhookConfiguration['metadata'] {
  const injected = certManager && 'service' in reach;
  const annotations = {
    [NAMESPACE_ANNOTATION]: namespace,
    ...(injected ? { 'cert-manager.io/inject-ca-from': `${namespace}/${SERVICE}` } : {}),
  };
  return { name, labels, annotations };
}

const NAMESPACE_NAME = 'kubernetes.io/metadata.name';
/** Never asked about. */
export const SYSTEM_NAMESPACES = ['kube-system', 'kube-node-lease', 'kube-public'];

function webhookFor(
  { failOpen, namespace }: WebhookOptions,
  reach: Reach,
): (name: string, rules: ValidatingWebhook['rules'], only?: readonly string[]) => ValidatingWebhook {
  // The operator fills in the path, which is secret; what manifests do not state stays when they are applied again.
  const clientConfig = (name: string): ValidatingWebhook['clientConfig'] =>
    'url' in reach
      ? { url: `${reach.url}${reviewPath(name) ?? '/'}`, caBundle: Buffer.from(reach.caBundle).toString('base64') }
      : { service: { name: reach.service, namespace, port: 443 } };
  return (name, rules, only) => ({
    name: `${name}.quorate.dev`,
    clientConfig: clientConfig(`${name}.quorate.dev`),
    rules,
    failurePolicy: failOpen ? 'Ignore' : 'Fail',
    matchPolicy: 'Equivalent',
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: TIMEOUT_SECONDS,
    admissionReviewVersions: ['v1'],
    namespaceSelector: {
      matchExpressions: [
        { key: IGNORE_LABEL, operator: 'DoesNotExist' },
        // A broken webhook must keep neither its own pods nor the cluster's from being replaced.
        { key: NAMESPACE_NAME, operator: 'NotIn', values: [...SYSTEM_NAMESPACES, namespace] },
        ...(only === undefined || only.length > MOST_NAMESPACES
          ? []
          : [{ key: NAMESPACE_NAME, operator: 'In', values: [...only] }]),
      ],
    },
    objectSelector: {},
  });
}

/** Requests about pods that no budget of ours protects, or that were decided elsewhere, are not asked about. */
const PODS_CONDITIONS = [
  // Kubelets finish what was decided elsewhere.
  {
    name: 'not-the-node',
    expression: "!(has(request.userInfo.groups) && 'system:nodes' in request.userInfo.groups)",
  },
  { name: 'not-going-already', expression: '!has(oldObject.metadata.deletionTimestamp)' },
  {
    name: 'not-finished',
    expression:
      "!(has(oldObject.status) && has(oldObject.status.phase) && oldObject.status.phase in ['Succeeded', 'Failed'])",
  },
  {
    name: 'not-critical',
    expression:
      "!(has(oldObject.spec.priorityClassName) && oldObject.spec.priorityClassName in ['system-node-critical', 'system-cluster-critical'])",
  },
  // A pod that never ran protects nothing.
  {
    name: 'on-a-node',
    expression: "request.operation != 'DELETE' || (has(oldObject.spec.nodeName) && oldObject.spec.nodeName != '')",
  },
];

function podsWebhook(options: WebhookOptions, reach: Reach): ValidatingWebhook {
  const { guarded, updates = true } = options;
  const rule = (operations: string[], resources: string[]) => {
    return { operations, apiGroups: [''], apiVersions: ['v1'], resources, scope: 'Namespaced' };
  };
  const rules = updates
    ? [rule(['UPDATE', 'DELETE'], ['pods']), rule(['UPDATE'], ['pods/resize'])]
    : [rule(['DELETE'], ['pods'])];
  return {
    ...webhookFor(options, reach)('pods', rules, guarded?.pods),
    matchConditions: PODS_CONDITIONS,
    objectSelector: { matchExpressions: [{ key: EXEMPT_LABEL, operator: 'DoesNotExist' }] },
  };
}

function validatingWebhooks(options: WebhookOptions, reach: Reach): ValidatingWebhookConfiguration {
  const { groupCreation = false, groups = 'native', requestKinds = 'native' } = options;
  const webhook = webhookFor(options, reach);
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: configurationMetadata(WEBHOOK_CONFIGURATION, options, reach),
    webhooks: [
      ...(options.guarded?.pods.length === 0 ? [] : [podsWebhook(options, reach)]),
      ...(groupCreation ? [ownersWebhook(options, reach)] : []),
      {
        ...webhook('downscales', [
          {
            operations: ['UPDATE'],
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            resources: ['replicasets', 'replicasets/scale'],
            scope: 'Namespaced',
          },
        ]),
        // A picker chooses; it never keeps a workload from shrinking.
        failurePolicy: 'Ignore',
        matchConditions: [{ name: 'shrinks', expression: SHRINKS }],
      },
      // Where the cluster serves groups itself, it checks them itself.
      ...(groups === 'crd'
        ? [
            webhook('podgroups', [
              {
                operations: ['CREATE', 'UPDATE'],
                apiGroups: [OWN_SCHEDULING_GROUP],
                apiVersions: ['v1beta1', 'v1alpha3'],
                resources: ['workloads', 'podgroups', 'compositepodgroups'],
                scope: 'Namespaced',
              },
            ]),
          ]
        : []),
      ...(requestKinds === 'crd' ? [webhook('requests', [REQUEST_RULE])] : []),
      ...OWN_KINDS.flatMap((kind) =>
        kind.review === undefined ? [] : [webhook(kind.review.webhook, [reviewRule(kind)])],
      ),
    ],
  };
}

/** Several write the status of an Eviction who need not trust each other: it is held to its rules like the rest. */
const REQUEST_RULE: RuleWithOperations = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [LIFECYCLE_GROUP],
  apiVersions: [evictionRequestType.version],
  resources: ['evictionrequests', 'evictionrequests/status', 'evictions', 'evictions/status'],
  scope: 'Namespaced',
};

function reviewRule({ definition, review, type }: OwnKind): RuleWithOperations {
  return {
    operations: [...(review?.operations ?? [])],
    apiGroups: [type.group],
    apiVersions: definition.spec?.versions.map(({ name }) => name).sort() ?? [],
    resources: [type.plural],
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
  };
}
