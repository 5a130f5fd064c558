/**
 * Every metric that a process of ours serves, in one table: what is not in it cannot be measured. The reference page, the
 * alerts and the Grafana dashboard are held to it.
 */

import { DRAIN_METRICS } from './drain-metrics.ts';
import { FLOW_METRICS } from './flow-metrics.ts';
import { CONTROLLERS, type MetricRow } from './metric-row.ts';
import { SERVER_METRICS } from './server-metrics.ts';

const BUDGET = ['namespace', 'budget'] as const;
const REVIEW_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5] as const;
const WRITE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30] as const;
const OPERATOR = ['operator'] as const;
const CLUSTER = ['operator', 'scheduler'] as const;
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10] as const;
const ANYWHERE = ['operator', 'scheduler', 'up'] as const;

/** Names of Kubernetes and OpenKruise are kept where the metric means the same. */
export const METRICS = {
  quorate_budget_units_expected: {
    type: 'gauge',
    help: 'Groups that a budget expects',
    labels: BUDGET,
    on: OPERATOR,
  },
  quorate_budget_units_available: {
    type: 'gauge',
    help: 'Groups of a budget that have their minimum of Ready pods',
    labels: BUDGET,
    on: OPERATOR,
  },
  quorate_budget_units_desired: {
    type: 'gauge',
    help: 'Groups that a budget wants available',
    labels: BUDGET,
    on: OPERATOR,
  },
  quorate_budget_units_disruptions_allowed: {
    type: 'gauge',
    help: 'Groups of a budget that may go down now',
    labels: BUDGET,
    on: OPERATOR,
  },
  quorate_budget_pods_disruptions_allowed: {
    type: 'gauge',
    help: 'Pods that may go now, as published in the status of a PodDisruptionBudget over groups',
    labels: BUDGET,
    on: OPERATOR,
  },
  quorate_budget_grants_outstanding: {
    type: 'gauge',
    help: 'Evictions that were granted under a budget and still count',
    labels: ['namespace', 'budget', 'kind'],
    on: OPERATOR,
  },
  quorate_budget_refused_seconds: {
    type: 'gauge',
    help: 'For how long a budget has refused every eviction that this replica was asked about; 0 where it granted the last one, or was not asked for 5 minutes',
    labels: BUDGET,
    on: OPERATOR,
  },
  quorate_fallback_to_pods: {
    type: 'gauge',
    help: 'Whether a budget that is meant to count groups counts pods because they cannot be resolved',
    labels: BUDGET,
    on: OPERATOR,
  },
  quorate_eviction_reviews_total: {
    type: 'counter',
    help: 'Evictions judged under budgets over groups, by what became of them',
    labels: ['result', 'reason'],
    on: OPERATOR,
  },
  quorate_eviction_refusals_total: {
    type: 'counter',
    help: 'Evictions refused under a budget over groups, by why',
    labels: ['namespace', 'budget', 'reason'],
    on: OPERATOR,
  },
  quorate_pins_total: {
    type: 'counter',
    help: 'Evictions pinned to the pod that was judged, by its UID or also by its version',
    labels: ['pin'],
    on: OPERATOR,
  },
  quorate_status_reviews_total: {
    type: 'counter',
    help: 'Statuses that others wrote into budgets, by what became of them',
    labels: ['result'],
    on: OPERATOR,
  },
  quorate_pods_linked_total: {
    type: 'counter',
    help: 'New pods whose owner asks for groups, by what became of their group',
    labels: ['result'],
    on: OPERATOR,
  },
  quorate_published_total: {
    type: 'counter',
    help: 'Pod numbers written into budgets over groups, by why and with what result',
    labels: ['by', 'result'],
    on: OPERATOR,
  },
  quorate_foreign_status_writes_total: {
    type: 'counter',
    help: 'How often somebody else put other numbers into a budget over groups in replace mode',
    labels: [],
    on: OPERATOR,
  },
  quorate_review_seconds: {
    type: 'histogram',
    help: 'Time to answer an admission review',
    labels: ['path', 'allowed'],
    on: OPERATOR,
    buckets: REVIEW_BUCKETS,
  },
  quorate_reviews_rejected_total: {
    type: 'counter',
    help: 'Requests to the webhook that were turned away before anything was decided',
    labels: ['reason'],
    on: OPERATOR,
  },
  quorate_bodies_in_flight_bytes: {
    type: 'gauge',
    help: 'Bytes of review bodies that are held or have been announced',
    labels: [],
    on: OPERATOR,
  },
  quorate_ledger_write_seconds: {
    type: 'histogram',
    help: 'Time to write a DisruptionLedger: a grant before it is given, grants listed after, a recount, a hold recalled',
    labels: ['kind'],
    on: OPERATOR,
    buckets: WRITE_BUCKETS,
  },
  quorate_ledger_conflicts_total: {
    type: 'counter',
    help: 'Writes of DisruptionLedgers that another replica was faster than',
    labels: [],
    on: OPERATOR,
  },
  quorate_ledger_recalls_total: {
    type: 'counter',
    help: 'Times this replica asked another to let go of a DisruptionLedger',
    labels: [],
    on: OPERATOR,
  },
  quorate_ledger_recreated_total: {
    type: 'counter',
    help: 'DisruptionLedgers made again after somebody deleted them',
    labels: [],
    on: OPERATOR,
  },
  quorate_leader: {
    type: 'gauge',
    help: 'Whether this replica leads',
    labels: [],
    on: CLUSTER,
  },
  quorate_lease_age_seconds: {
    type: 'gauge',
    help: 'How long ago the leader lease was last seen renewed, by whoever holds it',
    labels: [],
    on: CLUSTER,
  },
  quorate_resync_age_seconds: {
    type: 'gauge',
    help: 'On the leader: how long ago every budget was last looked at without any event',
    labels: [],
    on: OPERATOR,
  },
  quorate_watch_age_seconds: {
    type: 'gauge',
    help: 'How long nothing was heard of a resource, bookmarks included',
    labels: ['resource'],
    on: CLUSTER,
  },
  quorate_cache_live: {
    type: 'gauge',
    help: 'Whether the copy of a resource is filled and follows the API server',
    labels: ['resource'],
    on: CLUSTER,
  },
  quorate_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When a certificate of the webhook ends, in seconds since 1970',
    labels: ['certificate'],
    on: OPERATOR,
  },
  quorate_webhook_armed: {
    type: 'gauge',
    help: 'Whether a webhook configuration is filled',
    labels: ['configuration'],
    on: OPERATOR,
  },
  quorate_guarded_namespaces: {
    type: 'gauge',
    help: 'Namespaces that a webhook is asked about; absent where it is asked about all',
    labels: ['webhook'],
    on: OPERATOR,
  },
  quorate_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say what runs',
    labels: ['version', 'mode', 'publication'],
    on: CLUSTER,
  },
  quorate_process_failures_total: {
    type: 'counter',
    help: 'Failures that nothing in the process caught; the first one makes it stop in order',
    labels: ['kind'],
    on: ANYWHERE,
  },
  quorate_clock_jumps_total: {
    type: 'counter',
    help: 'How often the clock of the machine was set, by the direction',
    labels: ['direction'],
    on: ['up'],
  },
  quorate_downscale_picker_calls_total: {
    type: 'counter',
    help: 'Consultations of pod pickers by result',
    labels: ['result'],
    on: CONTROLLERS,
  },
  quorate_downscale_picker_duration_seconds: {
    type: 'histogram',
    help: 'Time a consultation of a pod picker took',
    labels: [],
    on: CONTROLLERS,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  quorate_downscale_picker_ignored_names_total: {
    type: 'counter',
    help: 'Names in answers of pickers that were not asked about',
    labels: [],
    on: CONTROLLERS,
  },
  quorate_downscale_picks_cleared_total: {
    type: 'counter',
    help: 'Pods that were chosen by a picker and are still there, by why the choice was taken back',
    labels: ['reason'],
    on: OPERATOR,
  },
  pod_unavailable_budget: {
    type: 'counter',
    help: 'Requests that PodUnavailableBudgets refused (a name of OpenKruise)',
    labels: ['kind_namespace_name', 'username'],
    on: CONTROLLERS,
  },
  pod_unavailable_budget_groups: {
    type: 'gauge',
    help: 'Groups of pods a PodUnavailableBudget guards, by state',
    labels: ['namespace', 'name', 'state'],
    on: CONTROLLERS,
  },
  pod_unavailable_budget_ungrouped_pods: {
    type: 'gauge',
    help: 'Pods a PodUnavailableBudget guards outside any group',
    labels: ['namespace', 'name'],
    on: CONTROLLERS,
  },
  pod_unavailable_budget_group_denials_total: {
    type: 'counter',
    help: 'Requests that PodUnavailableBudgets over groups refused',
    labels: ['namespace', 'name', 'operation', 'constraint'],
    on: CONTROLLERS,
  },
  scheduler_scheduling_attempt_duration_seconds: {
    type: 'histogram',
    help: 'How long one attempt to place a pod or group took',
    labels: [],
    on: ['scheduler', 'up'],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5],
  },
  scheduler_pending_pods: {
    type: 'gauge',
    help: 'Pods and whole groups that wait to be placed: to be tried next (active), resting after a failure (backoff), waiting for members (gated) or for room (unschedulable)',
    labels: ['queue'],
    on: ['scheduler', 'up'],
  },
  scheduler_preemption_victims_total: {
    type: 'counter',
    help: 'Pods removed to make room for more important ones',
    labels: [],
    on: ['scheduler', 'up'],
  },
  workqueue_adds_total: {
    type: 'counter',
    help: 'Keys added to a queue of a controller',
    labels: ['name'],
    on: ANYWHERE,
  },
  ...DRAIN_METRICS,
  ...FLOW_METRICS,
  workqueue_depth: {
    type: 'gauge',
    help: 'Keys waiting in a queue of a controller',
    labels: ['name'],
    on: ANYWHERE,
  },
  workqueue_retries_total: {
    type: 'counter',
    help: 'Keys put back into a queue of a controller after a failure',
    labels: ['name'],
    on: ANYWHERE,
  },
  workqueue_queue_duration_seconds: {
    type: 'histogram',
    help: 'How long a key waited in a queue of a controller until a worker took it',
    labels: ['name'],
    on: ANYWHERE,
    buckets: QUEUE_BUCKETS,
  },
  workqueue_work_duration_seconds: {
    type: 'histogram',
    help: 'How long a worker of a controller was at a key',
    labels: ['name'],
    on: ANYWHERE,
    buckets: QUEUE_BUCKETS,
  },
  workqueue_unfinished_work_seconds: {
    type: 'gauge',
    help: 'For how long all keys that are being worked on have been, together; it grows where workers hang',
    labels: ['name'],
    on: ANYWHERE,
  },
  workqueue_longest_running_processor_seconds: {
    type: 'gauge',
    help: 'For how long the key that is longest being worked on has been',
    labels: ['name'],
    on: ANYWHERE,
  },
  ...SERVER_METRICS,
  apiserver_storage_objects: {
    type: 'gauge',
    help: 'The same by the name of the resource and its group in one label',
    labels: ['resource'],
    on: ['up'],
  },
  etcd_object_counts: {
    type: 'gauge',
    help: 'The same under the name that dashboards of older Kubernetes ask for',
    labels: ['resource'],
    on: ['up'],
  },
} as const satisfies Record<string, MetricRow>;

type Table = typeof METRICS;
export type MetricName = keyof Table;
/** The metrics of one type. */
export type Named<T extends MetricRow['type']> = {
  [N in MetricName]: Table[N]['type'] extends T ? N : never;
}[MetricName];
export type LabelOf<N extends MetricName> = Table[N]['labels'][number];

export const metricRow = (name: MetricName): MetricRow => METRICS[name];
