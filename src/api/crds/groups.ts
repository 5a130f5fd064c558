/** Workload and PodGroup for clusters whose API server does not serve them itself. */
import type { CustomResourceDefinition } from '../generated/apiextensions-v1.ts';
import { COMPOSITE_VERSION } from '../scheduling/discover.ts';
import { OWN_SCHEDULING_GROUP } from '../scheduling/stored.ts';
import { conditions, defineKind, int32, list, object, type CrdSchema, text } from './builder.ts';

const empty = (description: string): CrdSchema => object({}, { description });

const schedulingPolicy = object(
  {
    basic: empty('Pods are placed one by one.'),
    gang: object(
      { minCount: int32('Pods that are placed together or not at all.', { minimum: 1 }) },
      { description: 'Pods are placed whole.', required: ['minCount'] },
    ),
  },
  { description: 'How the pods are placed; exactly one member is set.' },
);

const named: Record<string, CrdSchema> = {
  schedulingPolicy,
  schedulingConstraints: object({
    topology: list(object({ key: text('Node label whose value all pods share.') }, { required: ['key'] })),
  }),
  resourceClaims: list(
    object({ name: text(), resourceClaimName: text(), resourceClaimTemplateName: text() }, { required: ['name'] }),
  ),
  disruptionMode: object(
    { single: empty('Pods may go one by one.'), all: empty('All pods go together.') },
    { description: 'What goes when one pod must go.' },
  ),
  priorityClassName: text('Priority of the group.'),
  priority: int32('The number the class stands for.'),
  preemptionPolicy: text('Whether the group may displace others.'),
};

const place: Record<string, CrdSchema> = {
  parentCompositePodGroupName: text('Group of groups it belongs to.'),
  workloadRef: object(
    { workloadName: text('Name of the Workload.'), templateName: text('Name of the template in it.') },
    { description: 'Where the group comes from.', required: ['workloadName', 'templateName'] },
  ),
};

const podGroup = defineKind({
  type: { group: OWN_SCHEDULING_GROUP, kind: 'PodGroup', plural: 'podgroups', namespaced: true },
  versions: [
    {
      name: 'v1beta1',
      stored: true,
      description: 'Pods that are placed, and counted, together.',
      spec: object(
        {
          ...named,
          ...place,
        },
        { required: ['schedulingPolicy'] },
      ),
      status: object({
        conditions: conditions('Whether the group has been placed.'),
        resourceClaimStatuses: list(object({ name: text(), resourceClaimName: text() }, { required: ['name'] })),
      }),
      columns: [
        { name: 'Workload', type: 'string', jsonPath: '.spec.workloadRef.workloadName' },
        { name: 'Min', type: 'integer', jsonPath: '.spec.schedulingPolicy.gang.minCount' },
        {
          name: 'Scheduled',
          type: 'string',
          jsonPath: '.status.conditions[?(@.type=="PodGroupInitiallyScheduled")].status',
        },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
});

const workload = defineKind({
  type: { group: OWN_SCHEDULING_GROUP, kind: 'Workload', plural: 'workloads', namespaced: true },
  versions: [
    {
      name: 'v1beta1',
      stored: true,
      description: 'Templates of the groups an application is made of.',
      spec: object({
        controllerRef: object({ apiGroup: text(), kind: text(), name: text() }, { required: ['kind', 'name'] }),
        podGroupTemplates: list(object({ name: text(), ...named }, { required: ['name', 'schedulingPolicy'] })),
        // Composites nest, which a schema cannot say.
        compositePodGroupTemplates: list({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
      }),
      columns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
    },
  ],
});

const compositePodGroup = defineKind({
  type: { group: OWN_SCHEDULING_GROUP, kind: 'CompositePodGroup', plural: 'compositepodgroups', namespaced: true },
  versions: [
    {
      name: COMPOSITE_VERSION,
      stored: true,
      description: 'Groups that are placed, and counted, together.',
      spec: object(
        {
          ...place,
          schedulingPolicy: object(
            {
              basic: empty('Groups are placed one by one.'),
              gang: object(
                { minGroupCount: int32('Groups that are placed together or not at all.', { minimum: 1 }) },
                { description: 'Groups are placed whole.', required: ['minGroupCount'] },
              ),
            },
            { description: 'How the groups are placed; exactly one member is set.' },
          ),
          schedulingConstraints: named['schedulingConstraints'] as CrdSchema,
          disruptionMode: object(
            { single: empty('Groups may go one by one.'), all: empty('All groups go together, with all their pods.') },
            { description: 'What goes when one pod must go.' },
          ),
          priorityClassName: named['priorityClassName'] as CrdSchema,
          priority: named['priority'] as CrdSchema,
          preemptionPolicy: named['preemptionPolicy'] as CrdSchema,
        },
        { required: ['workloadRef', 'schedulingPolicy'] },
      ),
      status: object({ conditions: conditions('Whether the groups have been placed.') }),
      columns: [
        { name: 'Workload', type: 'string', jsonPath: '.spec.workloadRef.workloadName' },
        { name: 'Min Groups', type: 'integer', jsonPath: '.spec.schedulingPolicy.gang.minGroupCount' },
        { name: 'Parent', type: 'string', jsonPath: '.spec.parentCompositePodGroupName' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
});

export const groupDefinitions: readonly CustomResourceDefinition[] = [workload, podGroup, compositePodGroup];
