/** Metrics of the API server itself, by the names, labels and buckets that alerts and dashboards for Kubernetes ask for. */
import type { MetricRow } from './metric-row.ts';

const UP = ['up'] as const;
const REQUEST = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const READ = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const LATENCY_BUCKETS = [
  0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const;
const FROM_FIVE_MS = [0.005, 0.025, ...LATENCY_BUCKETS] as const;
const ADMISSION_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5] as const;
/** The page of service levels, away from the rest: it is read every second. */
export const SLIS_PATH = '/metrics/slis';

export const SERVER_METRICS = {
  apiserver_request_total: {
    type: 'counter',
    help: 'Requests that reached their handler, by what they asked for and the code of the answer; watches when they end',
    labels: [...REQUEST, 'code'],
    on: UP,
  },
  apiserver_request_duration_seconds: {
    type: 'histogram',
    help: 'Time to answer a request; of a watch, how long it lasted',
    labels: REQUEST,
    on: UP,
    buckets: FROM_FIVE_MS,
  },
  apiserver_request_sli_duration_seconds: {
    type: 'histogram',
    help: 'Time to answer a request without the time that webhooks took; dry runs are left out',
    labels: READ,
    on: UP,
    buckets: LATENCY_BUCKETS,
  },
  apiserver_response_sizes: {
    type: 'histogram',
    help: 'Bytes of the answers to reads, before compression',
    labels: READ,
    on: UP,
    buckets: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
  },
  apiserver_current_inflight_requests: {
    type: 'gauge',
    help: 'Most requests that were being answered at once in the last second',
    labels: ['request_kind'],
    on: UP,
  },
  apiserver_longrunning_requests: {
    type: 'gauge',
    help: 'Open watches and other requests that last',
    labels: READ,
    on: UP,
  },
  apiserver_registered_watchers: {
    type: 'gauge',
    help: 'Open watches by kind, under the name of older Kubernetes',
    labels: ['group', 'version', 'kind'],
    on: UP,
  },
  apiserver_watch_events_total: {
    type: 'counter',
    help: 'Events sent to watchers, once for each of them',
    labels: ['group', 'version', 'resource'],
    on: UP,
  },
  apiserver_requested_deprecated_apis: {
    type: 'gauge',
    help: '1 for each deprecated API that was asked for since the start',
    labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    on: UP,
  },
  apiserver_admission_step_admission_duration_seconds: {
    type: 'histogram',
    help: 'Time of a whole step of admission, webhooks included',
    labels: ['type', 'operation', 'rejected'],
    on: UP,
    buckets: ADMISSION_BUCKETS,
  },
  apiserver_admission_webhook_admission_duration_seconds: {
    type: 'histogram',
    help: 'Time that admission webhooks took to answer, by the name of the webhook',
    labels: ['name', 'type', 'operation', 'rejected'],
    on: UP,
    buckets: [...ADMISSION_BUCKETS, 10, 25],
  },
  apiserver_admission_webhook_request_total: {
    type: 'counter',
    help: 'Calls of admission webhooks, by what came of them',
    labels: ['name', 'type', 'operation', 'code', 'rejected'],
    on: UP,
  },
  apiserver_admission_webhook_rejection_count: {
    type: 'counter',
    help: 'Requests that admission webhooks refused, or that were refused because one could not be called',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    on: UP,
  },
  apiserver_admission_webhook_fail_open_count: {
    type: 'counter',
    help: 'Calls of admission webhooks that failed and were passed over, as their failurePolicy says',
    labels: ['name', 'type'],
    on: UP,
  },
  apiserver_resource_objects: {
    type: 'gauge',
    help: 'Stored objects by group and resource, counted when asked',
    labels: ['group', 'resource'],
    on: UP,
  },
  etcd_request_duration_seconds: {
    type: 'histogram',
    help: 'Time of a transaction of the store until it is on disk, by its first write (reads are from memory and not measured)',
    labels: ['operation', 'group', 'resource'],
    on: UP,
    buckets: FROM_FIVE_MS,
  },
  etcd_requests_total: {
    type: 'counter',
    help: 'Transactions of the store that wrote, by their first write',
    labels: ['operation', 'group', 'resource'],
    on: UP,
  },
  etcd_request_errors_total: {
    type: 'counter',
    help: 'Those of them that did not reach the disk',
    labels: ['operation', 'group', 'resource'],
    on: UP,
  },
  kubernetes_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say which Kubernetes is spoken',
    labels: ['major', 'minor', 'git_version', 'platform'],
    on: UP,
  },
  kubernetes_healthcheck: {
    type: 'gauge',
    help: 'What a check of health said when it was last asked: 1 for well',
    labels: ['name', 'type'],
    on: UP,
    path: SLIS_PATH,
  },
  kubernetes_healthchecks_total: {
    type: 'counter',
    help: 'How often a check of health was asked, by what it said',
    labels: ['name', 'type', 'status'],
    on: UP,
    path: SLIS_PATH,
  },
} as const satisfies Record<string, MetricRow>;
