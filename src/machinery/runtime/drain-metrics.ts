/** Metrics of drains: Maintenances, notices, requests to go, and the record of what went. */
import { CONTROLLERS, type MetricRow } from './metric-row.ts';

export const DRAIN_METRICS = {
  quorate_maintenances: {
    type: 'gauge',
    help: 'Maintenances, by phase',
    labels: ['phase'],
    on: CONTROLLERS,
  },
  quorate_capacity_lost_total: {
    type: 'counter',
    help: 'Times that room held for a group was lost before the group was back, by who has it',
    labels: ['by'],
    on: CONTROLLERS,
  },
  quorate_eviction_requests: {
    type: 'gauge',
    help: 'EvictionRequests, by what has become of them',
    labels: ['state'],
    on: CONTROLLERS,
  },
  quorate_observed_drains: {
    type: 'gauge',
    help: 'Drains that others carry out, by who does',
    labels: ['driver'],
    on: CONTROLLERS,
  },
  quorate_deadlocks_total: {
    type: 'counter',
    help: 'Times that drains were found to wait for each other in a ring',
    labels: [],
    on: CONTROLLERS,
  },
  quorate_maintenance_blocked_seconds_total: {
    type: 'counter',
    help: 'Time that Maintenances have been in phase Blocked, added up',
    labels: [],
    on: CONTROLLERS,
  },
  quorate_disruptions_total: {
    type: 'counter',
    help: 'Disruptions that were entered in the record, by how they came and what became of them',
    labels: ['way', 'outcome', 'voluntary'],
    on: CONTROLLERS,
  },
  quorate_group_down_seconds: {
    type: 'histogram',
    help: 'How long groups were down, by how the disruption came',
    labels: ['way'],
    on: CONTROLLERS,
    buckets: [5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400],
  },
  quorate_disruption_refusals_total: {
    type: 'counter',
    help: 'Refusals that were entered in the record, by what refused and why',
    labels: ['kind', 'reason'],
    on: CONTROLLERS,
  },
  quorate_history_entries: {
    type: 'gauge',
    help: 'Entries of the record of disruptions',
    labels: [],
    on: CONTROLLERS,
  },
  quorate_history_bytes: {
    type: 'gauge',
    help: 'Size of the record of disruptions',
    labels: [],
    on: CONTROLLERS,
  },
  quorate_history_lag_seconds: {
    type: 'gauge',
    help: 'For how long something has waited to be written into the record of disruptions',
    labels: [],
    on: CONTROLLERS,
  },
  quorate_notice_seconds: {
    type: 'histogram',
    help: 'How long groups were given notice before they went or stayed, by how it ended',
    labels: ['state'],
    on: CONTROLLERS,
    buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14_400],
  },
  quorate_notice_calls_total: {
    type: 'counter',
    help: 'HTTP calls that told groups that they have to go, by what came of them',
    labels: ['result'],
    on: CONTROLLERS,
  },
} as const satisfies Record<string, MetricRow>;
