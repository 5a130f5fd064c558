/** Metrics of priority and fairness and of aggregation, under the names that Kubernetes gives them. */
import type { MetricRow } from './metric-row.ts';

const FLOW = ['priority_level', 'flow_schema'] as const;
const UP = ['up'] as const;

export const FLOW_METRICS = {
  apiserver_flowcontrol_dispatched_requests_total: {
    type: 'counter',
    help: 'Requests that began, by the FlowSchema and priority level they belong to',
    labels: FLOW,
    on: UP,
  },
  apiserver_flowcontrol_rejected_requests_total: {
    type: 'counter',
    help: 'Requests refused with 429, by why: queue-full, time-out, concurrency-limit or cancelled (nobody waited any more)',
    labels: [...FLOW, 'reason'],
    on: UP,
  },
  apiserver_flowcontrol_current_inqueue_requests: {
    type: 'gauge',
    help: 'Requests that wait in the queues of a priority level',
    labels: FLOW,
    on: UP,
  },
  apiserver_flowcontrol_current_executing_requests: {
    type: 'gauge',
    help: 'Requests under way; those of exempt levels are not counted',
    labels: FLOW,
    on: UP,
  },
  apiserver_flowcontrol_current_executing_seats: {
    type: 'gauge',
    help: 'Seats that requests under way hold; those of exempt levels hold none',
    labels: FLOW,
    on: UP,
  },
  apiserver_flowcontrol_nominal_limit_seats: {
    type: 'gauge',
    help: 'Seats of its own that a priority level has',
    labels: ['priority_level'],
    on: UP,
  },
  apiserver_flowcontrol_request_wait_duration_seconds: {
    type: 'histogram',
    help: 'How long requests waited that had to, by whether they got their turn; what begins at once is not counted',
    labels: [...FLOW, 'execute'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
    on: UP,
  },
  aggregator_unavailable_apiservice: {
    type: 'gauge',
    help: 'Whether the server of an APIService cannot be asked',
    labels: ['name'],
    on: UP,
  },
} as const satisfies Record<string, MetricRow>;
