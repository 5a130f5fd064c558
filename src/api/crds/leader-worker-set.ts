import { kruiseLeaderWorkerSetType, leaderWorkerSetType } from '../lws/types.ts';
import { RESTART_POLICIES, STARTUP_POLICIES, SUBDOMAIN_POLICIES, SUBGROUP_TYPES } from '../lws/types.ts';
import {
  choice,
  conditions,
  defineKind,
  int32,
  int64,
  intOrPercent,
  labelSelector,
  list,
  object,
  podTemplate,
  text,
} from './builder.ts';

const status = object(
  {
    conditions: conditions(
      'Available while all groups serve, Progressing while groups are made or replaced, UpdateInProgress while some are of an older revision.',
    ),
    observedGeneration: int64('Generation of the spec that the status describes.'),
    replicas: int32('Groups that exist.'),
    readyReplicas: int32('Groups whose pods are all ready.'),
    updatedReplicas: int32('Groups of the newest revision.'),
    hpaPodSelector: text('Selects the leaders, for autoscalers.'),
  },
  { description: 'What the set has now.' },
);

const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.hpaPodSelector',
};

const columns = [
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
  { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
  { name: 'Up-to-date', type: 'integer', jsonPath: '.status.updatedReplicas' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

const replicas = int32('Groups wanted.', { default: 1 as never, minimum: 0 });
const restartPolicy = text(
  'What happens to a group when one of its pods restarts or goes: the RecreateGroup policies replace the whole group.',
  { enum: [...RESTART_POLICIES] as never, default: 'RecreateGroupOnPodRestart' as never },
);
const ROLLING_UPDATE = { partition: 0, maxUnavailable: 1, maxSurge: 0 };
const leaderTemplate = podTemplate('Template of the leader; the worker template serves when unset.');
const workerTemplate = podTemplate('Template of the workers.');

export const leaderWorkerSetDefinition = defineKind({
  type: leaderWorkerSetType,
  shortNames: ['lws'],
  versions: [
    {
      name: 'v1',
      stored: true,
      description: 'Replicas of a group of pods: one leader and its workers, which live and die together.',
      spec: object(
        {
          replicas,
          leaderWorkerTemplate: object(
            {
              leaderTemplate,
              workerTemplate,
              size: int32('Pods of a group, the leader among them.', { default: 1 as never, minimum: 1 }),
              restartPolicy,
              subGroupPolicy: object(
                {
                  subGroupPolicyType: choice(
                    'LeaderWorker: the leader is in the first subgroup. LeaderExcluded: it is in none.',
                    SUBGROUP_TYPES,
                  ),
                  subGroupSize: int32('Pods of a subgroup; size, or size - 1, is a multiple of it. Cannot change.'),
                },
                { description: 'Divides each group; pods say by label which subgroup they are in. Cannot come or go.' },
              ),
              volumeClaimTemplates: list(
                { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                'Claims that every pod of a group gets, leader and workers, each its own. Leaders keep those that the set was made with.',
              ),
              persistentVolumeClaimRetentionPolicy: object(
                {
                  whenDeleted: text('Retain or Delete: what becomes of claims when their group goes.'),
                  whenScaled: text('Retain or Delete: what becomes of claims when the set gets smaller.'),
                },
                { description: 'What becomes of claims made of volumeClaimTemplates; kept when unset.' },
              ),
            },
            { description: 'What a group consists of.', required: ['workerTemplate'] },
          ),
          rolloutStrategy: object(
            {
              type: text('RollingUpdate is the only one.', {
                enum: ['RollingUpdate'] as never,
                default: 'RollingUpdate' as never,
              }),
              rollingUpdateConfiguration: object(
                {
                  partition: int32('Groups below this index keep their revision.', { default: 0 as never }),
                  maxUnavailable: {
                    ...intOrPercent('Groups that may be down during an update; percentages round down.'),
                    default: 1 as never,
                  },
                  maxSurge: {
                    ...intOrPercent('Groups that may be added during an update; percentages round up.'),
                    default: 0 as never,
                  },
                },
                { description: 'How many groups change at once, and which.', default: ROLLING_UPDATE as never },
              ),
            },
            {
              description: 'How groups are replaced when a template changes.',
              default: { type: 'RollingUpdate', rollingUpdateConfiguration: ROLLING_UPDATE } as never,
            },
          ),
          startupPolicy: text('Whether workers are made when their leader is made, or only when it is ready.', {
            enum: [...STARTUP_POLICIES] as never,
            default: 'LeaderCreated' as never,
          }),
          scheduling: object(
            {
              replica: object(
                {
                  schedulingPolicy: object(
                    { gang: object({}, { description: 'All pods of a group at once, or none.' }) },
                    { description: 'Gang is the only one.' },
                  ),
                },
                { description: 'How one group is placed.' },
              ),
            },
            {
              description:
                'Present, even empty: the set makes a Workload and, for every group, a PodGroup that is placed whole.',
            },
          ),
          networkConfig: object(
            {
              subdomainPolicy: choice(
                'Shared: one headless Service for the set. UniquePerReplica: one for each group, named as its leader.',
                SUBDOMAIN_POLICIES,
              ),
            },
            {
              description: 'How the pods are found by name.',
              default: { subdomainPolicy: 'Shared' } as never,
            },
          ),
        },
        { required: ['leaderWorkerTemplate'] },
      ),
      status,
      columns,
      scale,
    },
  ],
});

export const kruiseLeaderWorkerSetDefinition = defineKind({
  type: kruiseLeaderWorkerSetType,
  versions: [
    {
      name: 'v1alpha1',
      stored: true,
      description:
        'A LeaderWorkerSet with its templates at the top of the spec; a group has three pods unless size says otherwise.',
      spec: object(
        {
          replicas,
          size: int32('Pods of a group, the leader among them; 3 when unset.', { minimum: 1 }),
          selector: labelSelector('Kept as written; the set finds its pods by its own labels.'),
          leaderTemplate,
          workerTemplate,
          restartPolicy,
        },
        { required: ['workerTemplate'] },
      ),
      status,
      columns,
      scale,
    },
  ],
});
