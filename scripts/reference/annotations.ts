/** Every annotation and label of Quorate's own, for the reference. The test keeps it in step with the sources. */
import {
  HOLD_FOR,
  HOLD_GRANT,
  HOLD_MEMBERS,
  HOLD_REPLACED,
  HOLD_SIZE,
  HOLD_UNTIL,
} from '../../src/decisions/capacity/index.ts';
import { HISTORY_PART_LABEL } from '../../src/api/quorate/disruption-history.ts';
import {
  LEADER_LABEL,
  NOTICE_ACKNOWLEDGED_ANNOTATION,
  NOTICE_ANNOTATION,
  NOTICE_FINALIZER,
  ORIGIN_LABEL,
} from '../../src/api/quorate/notice.ts';
import { CLAIM_ANNOTATION, CORDONED_ANNOTATION } from '../../src/api/quorate/maintenance.ts';
import {
  CAPACITY,
  CAPACITY_RESERVE,
  CAPACITY_RESERVE_FAILURE,
  CAPACITY_RESERVE_PRIORITY,
  DRAIN_LOOKAHEAD,
  BUDGET_SCOPE,
  GROUP_BY,
  GROUP_MIN_COUNT,
  GROUP_REPLICAS,
  HOLD_LABEL,
  REPLICAS_ANNOTATION,
} from '../../src/decisions/disruption/index.ts';
import {
  CHECKPOINT_SCALE,
  CHECKPOINT_TIME,
  DISRUPTION_COST,
  PUBLISHED_DELETION_COST,
  PUBLISHED_KARPENTER_COST,
} from '../../src/decisions/group-cost/index.ts';
import { CREATE_ANNOTATION, SCHEDULER_ANNOTATION, UNIT_ANNOTATION } from '../../src/decisions/group-making/index.ts';
import { LINT_DISABLE } from '../../src/decisions/lint/index.ts';

export interface AnnotationRow {
  readonly key: string;
  readonly on: string;
  readonly values: string;
  readonly effect: string;
}

export const ANNOTATIONS: readonly AnnotationRow[] = [
  {
    key: HISTORY_PART_LABEL,
    on: 'DisruptionHistory',
    values: 'written by Quorate: `reached`, `answers`',
    effect:
      'It is no day of the record: how far the pods were followed, or what a replica let pass in the last minutes.',
  },
  {
    key: NOTICE_ANNOTATION,
    on: 'Pod, by Quorate',
    values: 'JSON: `id`, `group`, `deadline`, `reason`, `cause`, `leader`',
    effect: 'Its group has to go and is told: see [Told before it goes](../guide/notice.md). Gone when the group stays',
  },
  {
    key: NOTICE_ACKNOWLEDGED_ANNOTATION,
    on: 'Pod',
    values: 'the `id` of its notice',
    effect: 'The member has done what it wanted to do: its group need not wait for it any more',
  },
  {
    key: LEADER_LABEL,
    on: 'Pod (label)',
    values: 'any',
    effect:
      'It speaks for its group in notices with `acknowledgement.from: Leader`, where its kind does not say who does',
  },
  {
    key: ORIGIN_LABEL,
    on: 'GroupEviction (label), by Quorate',
    values: '`eviction`',
    effect: 'It was made for the eviction of one member, whose group has to be told first',
  },
  {
    key: NOTICE_FINALIZER,
    on: 'GroupEviction (finalizer), by Quorate',
    values: '',
    effect: 'Its group is being told: deleted, it stays until members are told that they stay',
  },
  {
    key: 'policy.quorate.dev/next-allowed',
    on: 'a cause in the answer to a refused eviction',
    values: 'a time',
    effect: 'Under a DisruptionPolicy: when the group may be disrupted again, where its limits tell',
  },
  {
    key: GROUP_BY,
    on: 'PodDisruptionBudget',
    values: '`podGroup`, `leaderworkerset`, `jobset`, `jobset:replicatedJob`, `jobset:jobset`, `label:KEY`',
    effect:
      'Counts groups that only labels mark. Without it, pods that name a PodGroup or Workload are grouped by that.',
  },
  {
    key: GROUP_MIN_COUNT,
    on: 'PodDisruptionBudget with group-by',
    values: 'whole number from 1',
    effect: 'Healthy pods a group needs, where nothing else declares its size.',
  },
  {
    key: GROUP_REPLICAS,
    on: 'PodDisruptionBudget with group-by',
    values: 'whole number from 1',
    effect: 'How many groups there should be in all, of whatever sets and owners.',
  },
  {
    key: DISRUPTION_COST,
    on: 'Pod',
    values: 'whole number, or `checkpoint-age`',
    effect: 'What it costs to take the group down: of groups that may go, the cheapest goes first.',
  },
  {
    key: PUBLISHED_DELETION_COST.mark,
    on: 'Pod',
    values: 'whole number',
    effect:
      'Set by Quorate with the feature gate `PublishGroupCost`: the `controller.kubernetes.io/pod-deletion-cost` that it wrote; another value there is somebody else’s and stands.',
  },
  {
    key: PUBLISHED_KARPENTER_COST.mark,
    on: 'Pod',
    values: 'whole number',
    effect: 'The same for `karpenter.sh/disruption-cost`, with `PublishKarpenterCost`.',
  },
  {
    key: CHECKPOINT_TIME,
    on: 'the same',
    values: 'RFC 3339 time',
    effect: 'When the application last saved its work; with `checkpoint-age` the cost grows from then on.',
  },
  {
    key: CHECKPOINT_SCALE,
    on: 'the same',
    values: 'number up to 1000',
    effect: 'What a second since the last checkpoint costs. Default 1.',
  },
  {
    key: BUDGET_SCOPE,
    on: 'PodDisruptionBudget',
    values: '`PodGroup`, `Pod`',
    effect: 'Counts groups come what may, refusing while one cannot be resolved; or counts pods, whatever they name.',
  },
  {
    key: CAPACITY,
    on: 'PodDisruptionBudget',
    values: '`Require`, `Ignore`',
    effect:
      'What an eviction would take below its minimum goes only while all of its replacement finds places; otherwise 429 with `NoRoom` or `CannotTell`. A word that is not known counts as `Require`.',
  },
  {
    key: CAPACITY_RESERVE,
    on: 'PodDisruptionBudget',
    values: 'duration from `10s` to `24h`, such as `10m`',
    effect:
      'With `capacity: Require`: placeholder pods hold the room from the grant until the group is back, at the longest for so long. On a cluster with `quorate install --reservations`.',
  },
  {
    key: CAPACITY_RESERVE_FAILURE,
    on: 'PodDisruptionBudget',
    values: '`Refuse`, `Proceed`',
    effect: 'What happens where room is there and cannot be held, such as for want of quota. Default `Refuse`.',
  },
  {
    key: CAPACITY_RESERVE_PRIORITY,
    on: 'PodDisruptionBudget',
    values: '`Group`, `Low`',
    effect:
      'How important placeholders are: as the least important member of the group (default), or -5, which keeps no pod out that fills gaps.',
  },
  {
    key: HOLD_LABEL,
    on: 'pods that hold room',
    values: '`true`',
    effect: 'A label. Set by Quorate on pods that hold room for a group; no budget counts them.',
  },
  {
    key: HOLD_FOR,
    on: 'pods that hold room',
    values: 'a group',
    effect: 'Set by Quorate: whom the room is held for.',
  },
  {
    key: HOLD_UNTIL,
    on: 'pods that hold room',
    values: 'RFC 3339 time',
    effect: 'Set by Quorate: when the room is given back at the latest.',
  },
  {
    key: HOLD_GRANT,
    on: 'pods that hold room',
    values: 'UID',
    effect: 'Set by Quorate: the pod whose eviction was granted with it.',
  },
  {
    key: HOLD_MEMBERS,
    on: 'pods that hold room',
    values: 'beginnings of UIDs',
    effect: 'Set by Quorate: the members that stood then; all others have come since.',
  },
  {
    key: HOLD_SIZE,
    on: 'pods that hold room',
    values: 'number',
    effect: 'Set by Quorate: how many places were held.',
  },
  {
    key: HOLD_REPLACED,
    on: 'pods that hold room',
    values: '`true`',
    effect: 'Set by Quorate: its room was lost once, and is held here now.',
  },
  {
    key: DRAIN_LOOKAHEAD,
    on: 'PodDisruptionBudget',
    values: '`Node`',
    effect: "On a cordoned node an eviction is judged together with the budget's other pods there.",
  },
  {
    key: 'groups.quorate.dev/schedulingGroup, /workloadRef, /workloadReference, /workload',
    on: 'Pod',
    values: 'the field of that name, as JSON',
    effect: 'The link to a group, on API servers that drop the field.',
  },
  {
    key: CREATE_ANNOTATION,
    on: 'Job, JobSet, LeaderWorkerSet',
    values: '`true`, `false`',
    effect:
      'Workload and PodGroups are made, and the pods are in them: by the operator on a cluster, else by their controller.',
  },
  {
    key: UNIT_ANNOTATION,
    on: 'JobSet, with the former',
    values: '`job` (default), `jobset`',
    effect: 'One group for each of its Jobs, or one for all of them.',
  },
  {
    key: SCHEDULER_ANNOTATION,
    on: 'the same three',
    values: 'name of a scheduler',
    effect: 'Places the pods of the groups that the operator makes.',
  },
  {
    key: 'groups.quorate.dev/migrated-from',
    on: 'Workload, PodGroup of `scheduling.quorate.dev`',
    values: 'an API version',
    effect:
      'Written by `quorate migrate groups`: it stands in for an object of that version, and goes with `--import`.',
  },
  {
    key: REPLICAS_ANNOTATION,
    on: 'the same Workload',
    values: 'JSON, such as `{"gang":3}`',
    effect: 'How many groups of each template there should be, which only `v1alpha1` says in a field.',
  },
  {
    key: 'scheduling.quorate.dev/gang',
    on: 'Job, LeaderWorkerSet',
    values: '`true`, a number, `false`',
    effect:
      'Schedules the pods of the Job, or of each group of the set, all or none; with a number, at least that many.',
  },
  {
    key: LINT_DISABLE,
    on: 'any object',
    values: 'names of rules, separated by commas',
    effect: '`quorate lint` does not report these rules for the object.',
  },
  {
    key: 'policy.quorate.dev/ignore',
    on: 'Namespace (label)',
    values: 'any',
    effect: 'The webhooks leave the namespace alone.',
  },
  {
    key: 'policy.quorate.dev/exempt',
    on: 'Pod (label)',
    values: 'any',
    effect: 'The pod is deleted without a question, whatever PodUnavailableBudget covers it.',
  },
  {
    key: CLAIM_ANNOTATION,
    on: 'Node',
    values: 'written by Quorate: NAME/UID',
    effect: 'The Maintenance that has claimed the node. As a finalizer: its nodes are let go before it is deleted.',
  },
  {
    key: CORDONED_ANNOTATION,
    on: 'Node',
    values: 'written by Quorate: `true`',
    effect: 'The node was not cordoned before it was claimed: whoever lets go of it may uncordon it.',
  },
  {
    key: 'policy.quorate.dev/armed',
    on: 'webhook configurations of Quorate',
    values: 'written by Quorate',
    effect: 'The leading replica has filled the configuration, and keeps it so since then.',
  },
  {
    key: 'policy.quorate.dev/namespace',
    on: 'webhook configurations of Quorate',
    values: 'written by `quorate install`',
    effect: 'The installation that the configuration belongs to; there is one in a cluster.',
  },
  {
    key: 'policy.quorate.dev/webhook-url',
    on: 'webhook configurations of Quorate, while empty',
    values: 'a URL',
    effect: 'Where replicas are reached that run outside the cluster, instead of the Service.',
  },
  {
    key: 'policy.quorate.dev/downscale-pick',
    on: 'Pod',
    values: 'written by Quorate',
    effect: 'The pod was chosen by a DownscalePodPicker, and its deletion cost comes from that.',
  },
  {
    key: 'policy.quorate.dev/mode, /version, /reviews',
    on: 'Lease of the operator (`mode` also as a label of its pods)',
    values: 'written by Quorate',
    effect: 'What the leader runs as, for `quorate doctor`.',
  },
  {
    key: 'nodes.quorate.dev/simulated',
    on: 'Node',
    values: '`true`',
    effect: 'The node is played by `quorate up` or `quorate nodes`.',
  },
  {
    key: 'nodes.quorate.dev/power',
    on: 'Node',
    values: '`off`',
    effect: 'Heartbeats stop and its pods freeze; `quorate node fail` sets it.',
  },
  {
    key: 'nodes.quorate.dev/exit-code, /exit-after, /not-ready, /start-delay, /ready-delay, /stop-delay, /cpu, /memory',
    on: 'Pod on a simulated node',
    values: 'see the guide',
    effect: 'How the simulated pod behaves: [simulated nodes](../guide/simulated-nodes.md).',
  },
  {
    key: 'metrics.quorate.dev/METRIC',
    on: 'any object, as a Pod',
    values: 'quantity',
    effect:
      'What custom.metrics.k8s.io tells of the object, for autoscalers: [with an autoscaler](../guide/downscale-pod-picker.md#with-an-autoscaler).',
  },
  {
    key: 'metrics.quorate.dev/external',
    on: 'ConfigMap (label)',
    values: 'any',
    effect: 'Each key of its data is a metric of external.metrics.k8s.io; its other labels are those of the metric.',
  },
];
