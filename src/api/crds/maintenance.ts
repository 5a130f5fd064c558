import { DEFAULT_MAINTENANCE_TTL_SECONDS, DEFAULT_RECOVERY_TIMEOUT, maintenanceType } from '../quorate/maintenance.ts';
import { MAINTENANCE_PHASES, NODE_STATES, STEP_ACTIVITIES } from '../quorate/maintenance.ts';
import { MAINTENANCE_ENUMS } from '../quorate/maintenance-validation.ts';
import {
  choice,
  conditions,
  defineKind,
  flag,
  int32,
  int64,
  intOrPercent,
  labelSelector,
  list,
  object,
  text,
  time,
  windowList,
} from './builder.ts';

const spec = object(
  {
    nodes: object(
      {
        names: list(text(), 'Names of nodes.', { maxItems: 5000 }),
        selector: labelSelector('Nodes with these labels when the first plan is made; with names: both.'),
        all: flag('Every node.'),
      },
      { description: 'Which nodes are drained.' },
    ),
    reason: text('What for, in one line.', { maxLength: 256 }),
    notBefore: time('Nothing is touched before.'),
    deadline: time('It ends then, as it is; budgets are never overridden.'),
    windows: windowList('Steps begin only inside one of them; none: at any time.'),
    mode: choice(
      'AllOrNothing begins only when everything can go; BestEffort takes what it can.',
      MAINTENANCE_ENUMS.mode,
    ),
    nodesReturn: flag('Drained nodes come back, as in an upgrade, and the plan counts on their room.'),
    uncordon: choice('When nodes that it cordoned are uncordoned.', MAINTENANCE_ENUMS.uncordon),
    cordon: choice('All nodes before the first step, or those of a step when it begins.', MAINTENANCE_ENUMS.cordon),
    capacity: choice('Whether what goes must find room elsewhere.', MAINTENANCE_ENUMS.capacity),
    replan: choice('Whether a later plan may take groups down that the first did not.', MAINTENANCE_ENUMS.replan),
    pace: object(
      {
        maxNodesAtOnce: intOrPercent('Nodes whose pods go in one step: a number, or 1% to 100% of them.'),
        maxGroupsDownAtOnce: int32('Groups that one step takes down.', { minimum: 1 }),
        pauseBetweenSteps: text('How long to wait after a step, up to 24h.', { default: '0s' as never }),
      },
      { description: 'Slower than budgets alone would have it.' },
    ),
    pods: object(
      {
        force: flag('Also pods that no controller makes again.'),
        deleteEmptyDirData: flag('Also pods with emptyDir volumes, whose content is lost.'),
        gracePeriodSeconds: int64("Instead of each pod's own.", { minimum: 0 }),
      },
      { description: 'Which pods may go, and how.' },
    ),
    recoveryTimeout: text('What a step took down is waited for so long before that is called a block; 1m to 24h.', {
      default: DEFAULT_RECOVERY_TIMEOUT as never,
    }),
    onDeadlock: choice(
      'When drains wait for each other in a ring: Report says so; Yield steps back if this is the cheapest to pause.',
      MAINTENANCE_ENUMS.onDeadlock,
    ),
    paused: flag('Nothing new is begun.'),
    cancelled: flag('It ends; stays true.'),
    ttlSecondsAfterFinished: int32('How long this object is kept once it has ended.', {
      minimum: 0,
      default: DEFAULT_MAINTENANCE_TTL_SECONDS as never,
    }),
    source: object(
      {
        driver: text('Who drains, such as Karpenter.'),
        marker: text('What on the node says so.'),
        deadline: time('Absent where none is known.'),
        deadlineUnknown: flag('It is in an object that may not be read.'),
        ignoresBudgets: flag('Pods go at the deadline, whatever budgets say.'),
        planned: flag('Announced, and not begun.'),
      },
      { description: 'A drain that somebody else carries out. Written by Quorate alone.' },
    ),
  },
  { required: ['nodes'] },
);

const pods = list(
  object({
    namespace: text(),
    name: text(),
    uid: text(),
    node: text(),
    controller: object({ apiVersion: text(), kind: text(), name: text(), uid: text() }),
  }),
);

const plan = object(
  {
    number: int32('1 for the first.'),
    madeAt: time(),
    hash: text('Equal plans have equal hashes.'),
    stepsBefore: int32('Steps that were done when it was made.'),
    steps: list(
      object({
        evictions: list(
          object({
            group: text('NAMESPACE/KIND/NAME, or NAMESPACE/NAME of a pod on its own.'),
            pods,
            disrupts: flag('The group goes below its minimum.'),
            begun: flag('One of its pods went, or was told to.'),
            whole: flag('It goes by a GroupEviction.'),
            seconds: int32('How long it is thought to be away.'),
          }),
        ),
        completes: list(text(), 'Nodes that are empty after it.'),
      }),
    ),
    truncatedSteps: int32('Steps for which there was no place here.'),
    disruptions: int32('How often it takes a group down.'),
    lowerBound: int32('No plan can do with fewer.'),
    blocked: list(
      object({
        group: text(),
        reason: text(),
        budgets: list(text()),
        nodes: list(text()),
        pods: list(text()),
        text: text(),
      }),
      'What cannot go, and why.',
    ),
    leftForLast: text('A node that the others move to; it goes when they are back.'),
  },
  { description: 'What it is going to do, or has begun to.' },
);

const status = object({
  phase: text('How far it is.', { enum: [...MAINTENANCE_PHASES] as never }),
  observedGeneration: int64(),
  startedAt: time('The first node was claimed.'),
  finishedAt: time(),
  expectedEnd: time('Absent while that cannot be told.'),
  plan,
  step: object({
    number: int32('The step under way, else the last that was done; 0 before.'),
    of: int32(),
    begunAt: time(),
    doneAt: time(),
    activity: text(undefined, { enum: [...STEP_ACTIVITIES] as never }),
  }),
  nodes: list(
    object({
      name: text(),
      uid: text(),
      state: text(undefined, { enum: [...NODE_STATES] as never }),
      since: time(),
      replans: int32('How often pods that came to it made another plan necessary.'),
    }),
  ),
  nodesTotal: int32(),
  nodesDrained: int32(),
  groups: object({
    downNow: int32('Groups of its steps that are down now.'),
    downTotal: int32('Outages of groups that it caused.'),
    planned: int32('Those and the ones to come.'),
    hit: list(
      object({
        group: text(),
        count: int32('How often it was taken down.'),
        allowed: int32('How often it may be, by the first plan.'),
      }),
    ),
  }),
  blockers: list(
    object({
      kind: text(),
      name: text(),
      namespace: text(),
      group: text(),
      pods: list(text(), 'The first ten.'),
      podsTotal: int32(),
      since: time(),
      reason: text(),
      message: text(),
      remedies: list(text(), 'Smallest change first.'),
    }),
    'What it waits for.',
  ),
  waitsFor: list(text(), 'Budgets, groups, room and drains that it cannot get on without.'),
  yielded: object(
    {
      since: time(),
      until: time('It looks again then, at the latest.'),
      to: list(text(), 'Maintenances it waits for.'),
      times: int32('How often it has.'),
    },
    { description: 'It stepped back because drains waited for each other.' },
  ),
  conditions: conditions('Planned, Progressing, Blocked, Deadlocked, Complete, Failed.'),
  summary: object(
    { step: text(), nodes: text(), groups: text(), waitsFor: text(), window: text() },
    { description: 'What kubectl shows.' },
  ),
});

export const maintenanceDefinition = defineKind({
  type: maintenanceType,
  shortNames: ['mnt'],
  versions: [
    {
      name: 'v1alpha1',
      stored: true,
      description:
        'A drain of nodes: planned, carried out step by step within budgets, and told in its status. Groups go down as often as the plan says and not more.',
      spec,
      status,
      columns: [
        { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
        { name: 'Step', type: 'string', jsonPath: '.status.summary.step' },
        { name: 'Nodes', type: 'string', jsonPath: '.status.summary.nodes', description: 'Drained, of all.' },
        { name: 'Down', type: 'integer', jsonPath: '.status.groups.downNow', description: 'Groups down now.' },
        {
          name: 'Groups',
          type: 'string',
          jsonPath: '.status.summary.groups',
          description: 'Outages so far, of those planned.',
        },
        { name: 'Waits For', type: 'string', jsonPath: '.status.summary.waitsFor' },
        { name: 'Ends', type: 'string', jsonPath: '.status.expectedEnd' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        { name: 'Reason', type: 'string', jsonPath: '.spec.reason', priority: 1 },
        { name: 'Plan', type: 'integer', jsonPath: '.status.plan.number', priority: 1 },
        { name: 'Window', type: 'string', jsonPath: '.status.summary.window', priority: 1 },
        { name: 'Deadline', type: 'string', jsonPath: '.spec.deadline', priority: 1 },
      ],
    },
  ],
});
