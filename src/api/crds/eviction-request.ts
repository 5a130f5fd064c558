/** EvictionRequest and Eviction for clusters whose API server does not serve them itself. */
import type { CustomResourceDefinition } from '../generated/apiextensions-v1.ts';
import { evictionRequestType, evictionType } from '../lifecycle/index.ts';
import { conditions, type CrdSchema, defineKind, int32, int64, list, object, text, time } from './builder.ts';

/** Tells ours from the cluster's own in discovery. */
export const OWN_CATEGORY = 'quorate';

const target = object(
  {
    pod: object(
      { name: text('Name of the pod.'), uid: text('UID of the pod: one that comes after it is not meant.') },
      { description: 'A pod.' },
    ),
  },
  { description: 'What is to go; never changed.' },
);

/** Lists that have one entry for each name. */
const byName = (items: CrdSchema, description: string): CrdSchema =>
  list(items, description, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] });

const observedGeneration = int64('The generation that was seen by the controller.');
const isTrue = '.status.conditions[?(@.status=="True")]';
const outcome = [
  { name: 'Target', type: 'string', jsonPath: '.spec.target.pod.name' },
  { name: 'Status', type: 'string', jsonPath: `${isTrue}.type` },
  { name: 'Reason', type: 'string', jsonPath: `${isTrue}.reason` },
];
const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const isActive = '.status.targetResponders[?(@.state=="Active")].name';

const kinds: readonly CustomResourceDefinition[] = [
  defineKind({
    type: evictionRequestType,
    categories: [OWN_CATEGORY],
    versions: [
      {
        name: evictionRequestType.version,
        stored: true,
        description: 'Asks for a pod to go, and takes that back.',
        spec: object({
          target,
          requester: text('Who asks, such as example.com/drain; never changed.'),
          intent: text('Eviction or Withdrawn.'),
        }),
        status: object({ conditions: conditions('TargetEvicted and Failed.'), observedGeneration }),
        columns: [
          ...outcome,
          { name: 'Requester', type: 'string', jsonPath: '.spec.requester' },
          { name: 'Intent', type: 'string', jsonPath: '.spec.intent' },
          age,
        ],
      },
    ],
  }),
  defineKind({
    type: evictionType,
    categories: [OWN_CATEGORY],
    versions: [
      {
        name: evictionType.version,
        stored: true,
        description: 'The going of a pod: who asks for it, and whose turn it is to make it go.',
        spec: object({ target }),
        status: object({
          conditions: conditions('TargetEvicted and Failed.'),
          observedGeneration,
          requesters: byName(
            object({ name: text(), intent: text() }, { required: ['name'] }),
            'Everybody who asks or has asked.',
          ),
          targetResponders: byName(
            object({ name: text(), priority: int32(), state: text() }, { required: ['name'] }),
            'Whose turn it is, who had theirs, and who will.',
          ),
          responders: byName(
            object(
              {
                name: text(),
                startTime: time(),
                heartbeatTime: time(),
                expectedCompletionTime: time(),
                completionTime: time(),
                message: text(),
              },
              { required: ['name'] },
            ),
            'What each of them says of itself.',
          ),
        }),
        columns: [...outcome, { name: 'Active Responder', type: 'string', jsonPath: isActive }, age],
      },
    ],
  }),
];

/** Groups of Kubernetes' own are kept for it: a definition that stands in says so. */
export const requestDefinitions = kinds.map((definition): CustomResourceDefinition => {
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, stands in for the kinds of Kubernetes 1.37' };
  return { ...definition, metadata: { ...definition.metadata, annotations } };
});
