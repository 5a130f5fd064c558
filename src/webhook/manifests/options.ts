import { OPTIONAL_FEATURES, type OptionalFeature } from '../../api/crds/index.ts';
import type { FeatureGate } from '../../machinery/runtime/index.ts';

/** Whose pod numbers stand in budgets over groups, and who else counts; see ADR 0018. */
export type OperatorMode = 'adopt' | 'alongside' | 'replace';

/** The gate that switches a feature off. */
export const FEATURE_GATES = {
  podUnavailableBudgets: 'PodWebhook',
  groupEvictions: 'GroupEviction',
  pickers: 'DownscalePodPicker',
  groupCreation: 'GroupCreation',
  maintenances: 'Maintenance',
  capacity: 'CapacityCheck',
  evictionRequests: 'EvictionRequestAPI',
} as const satisfies Record<OptionalFeature, FeatureGate>;

export interface InstallOptions extends Readonly<Record<OptionalFeature, boolean>> {
  readonly namespace: string;
  readonly image: string;
  readonly mode: OperatorMode;
  readonly replicas: number;
  /** Requests pass when no replica answers, instead of being refused. */
  readonly failOpen: boolean;
  /** cert-manager issues the serving certificate and injects the CA; otherwise Quorate makes its own. */
  readonly certManager: boolean;
  /** Who serves Workloads and PodGroups: the cluster itself, or definitions of ours. */
  readonly groups: KindsFrom;
  /** Who serves EvictionRequests and Evictions, where they are carried out. */
  readonly requestKinds: KindsFrom;
  /** Also install our scheduler, for pods that name it. */
  readonly scheduler: boolean;
  /** CIDRs that API servers and nodes ask from; nobody else reaches the webhook's port. None: anybody does. */
  readonly webhookFrom: readonly string[];
  /** The operator may put webhook configurations back that somebody deletes. */
  readonly recreateWebhooks: boolean;
  /** The operator may make pods that hold room for groups, in every namespace. */
  readonly reservations: boolean;
  /** Replicas also serve the dashboard, behind a Service of its own. */
  readonly dashboard: boolean;
  /** Secrets with headers of calls that tell groups before they go, as NAMESPACE/NAME: the operator may read these. */
  readonly noticeSecrets: readonly string[];
}

/** Who serves kinds of Kubernetes: the cluster itself, or definitions of ours. */
export type KindsFrom = 'native' | 'crd';

export const defaultInstall: InstallOptions = {
  namespace: 'quorate-system',
  image: 'quorate:latest',
  mode: 'adopt',
  replicas: 2,
  failOpen: false,
  certManager: false,
  groups: 'native',
  requestKinds: 'native',
  scheduler: false,
  webhookFrom: [],
  recreateWebhooks: false,
  reservations: false,
  dashboard: false,
  noticeSecrets: [],
  ...(Object.fromEntries(OPTIONAL_FEATURES.map((feature) => [feature, true])) as Record<OptionalFeature, boolean>),
};

export const NAME = 'quorate';
export const SCHEDULER = 'quorate-scheduler';
/** Lets its subjects read the operator's metrics. */
export const METRICS_READER = 'quorate-metrics';
/** Lets the operator make webhook configurations; its own role, so that an uninstallation takes it first. */
export const RECREATE = 'quorate-recreate-webhooks';
/** In the namespaces of policies: lets the operator read the Secrets that these name. */
export const NOTICE_ACCESS = 'quorate-notice';
export const SERVICE = 'quorate-webhook';
export const CERTIFICATE_SECRET = 'quorate-webhook-tls';
/** Holds the secret path of reviews. */
export const TOKEN_SECRET = 'quorate-webhook-token';
export const WEBHOOK_CONFIGURATION = 'quorate';
/** The one that may change what it is asked about: it pins evictions. */
export const EVICTIONS_CONFIGURATION = 'quorate-evictions';
/** Puts our pod numbers into the status of budgets over groups that others write. */
export const STATUS_CONFIGURATION = 'quorate-status';
/** Puts pods into the groups that their owners have asked for. */
export const LINK_CONFIGURATION = 'quorate-link';
export const WEBHOOK_PORT = 9443;
export const METRICS_PORT = 8080;
export const DASHBOARD_PORT = 8443;
export const DASHBOARD_SERVICE = 'quorate-dashboard';

/** Everything installed carries these, so that it can be found and removed. */
export const labels = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/managed-by': 'quorate' } as const;

/** Namespaces with this label are left alone. */
export const IGNORE_LABEL = 'policy.quorate.dev/ignore';

/** Pods with this label are deleted without a question. */
export const EXEMPT_LABEL = 'policy.quorate.dev/exempt';
/** On a configuration that the leading replica has filled and keeps: since when. */
export const ARMED_ANNOTATION = 'policy.quorate.dev/armed';
/** On an empty configuration: where replicas are reached that run outside the cluster. */
export const URL_ANNOTATION = 'policy.quorate.dev/webhook-url';

/** On a configuration: the namespace of the installation it belongs to. */
export const NAMESPACE_ANNOTATION = 'policy.quorate.dev/namespace';
/** On the operator's pods: in which mode they run. */
export const MODE_LABEL = 'policy.quorate.dev/mode';

/** Who the operator is to the API server. */
export function operatorUser(namespace: string): string {
  return `system:serviceaccount:${namespace}:${NAME}`;
}

/** Names the webhook is reached by inside the cluster. */
export const serviceNames = (namespace: string): string[] => namesOf(SERVICE, namespace);

/** Names the dashboard is reached by inside the cluster. */
export const dashboardNames = (namespace: string): string[] => namesOf(DASHBOARD_SERVICE, namespace);

function namesOf(service: string, namespace: string): string[] {
  return [
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
  ];
}
