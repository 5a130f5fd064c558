import type { Stage } from '../stage.ts';

/**
 * The life of a pod on a simulated node. Of the stages that match, the one that is due first is played; on a
 * tie the earlier row. Job pods are not completed here: a pod runs until something asks it to end.
 */
export const generalPodStages: readonly Stage[] = [
  { name: 'pod-remove', match: { deleting: true, terminal: true }, delay: {}, effect: 'remove' },
  {
    name: 'pod-stop',
    match: { deleting: true, terminal: false },
    delay: { ms: 300, jitterMs: 200, atLeast: 'stopDelay', atMost: 'grace' },
    effect: 'stop',
  },
  {
    name: 'pod-reject-ports',
    match: { deleting: false, terminal: false, started: false, portsTaken: true },
    delay: {},
    effect: 'reject-ports',
  },
  {
    name: 'pod-deadline',
    match: { deleting: false, terminal: false, hasDeadline: true },
    delay: { until: 'deadlineAt' },
    effect: 'exceed-deadline',
  },
  {
    name: 'pod-start',
    match: { deleting: false, terminal: false, started: false, portsTaken: false },
    delay: { ms: 50, jitterMs: 250, atLeast: 'startDelay' },
    effect: 'start',
  },
  {
    name: 'pod-ready',
    match: { deleting: false, terminal: false, started: true, warmingUp: true },
    delay: { until: 'readyAt' },
    effect: 'sync',
  },
  {
    name: 'pod-end',
    match: { deleting: false, terminal: false, started: true, ends: true },
    delay: { until: 'endsAt' },
    effect: 'end',
  },
  {
    name: 'pod-restart',
    match: { deleting: false, terminal: false, started: true, crashed: true },
    delay: { until: 'restartAt' },
    effect: 'restart',
  },
  {
    name: 'pod-pull-back-off',
    match: { deleting: false, terminal: false, started: true, pullFailing: true },
    delay: { ms: 10_000, jitterMs: 5000 },
    effect: 'back-off-pull',
  },
  {
    name: 'pod-sync',
    match: { deleting: false, terminal: false, started: true, stale: true },
    delay: { ms: 20, jitterMs: 30 },
    effect: 'sync',
  },
];
