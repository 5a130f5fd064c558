/** What `kubectl explain` says of EvictionRequest and Eviction, in our own words. */
const CONDITIONS =
  'TargetEvicted says that the pod is gone or finished, Failed that nobody works on it any more, and why.';
const OBSERVED = 'The generation that the controller has answered.';
const TARGET = { pod: 'The pod that is to go.' };
const POD = { name: 'The name of the pod.', uid: 'Its uid: a new pod of the same name is not meant.' };

export const LIFECYCLE_DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'lifecycle/v1alpha1.EvictionRequest': {
    '': 'EvictionRequest says that somebody wants a pod to go, gracefully; the same object takes that back.',
    spec: 'What is to go, and who asks.',
    status: 'What has become of it.',
  },
  'lifecycle/v1alpha1.EvictionRequestSpec': {
    target: 'What is to go. Cannot be changed.',
    requester: 'Who asks, as a key with a domain, such as example.com/drain. Cannot be changed.',
    intent: 'Eviction asks for it; Withdrawn takes it back.',
  },
  'lifecycle/v1alpha1.EvictionRequestTarget': TARGET,
  'lifecycle/v1alpha1.EvictionRequestPodReference': POD,
  'lifecycle/v1alpha1.EvictionRequestStatus': { conditions: CONDITIONS, observedGeneration: OBSERVED },
  'lifecycle/v1alpha1.Eviction': {
    '': 'Eviction is how one pod is made to go, for all who ask: its responders have their turn one after the other.',
    spec: 'What is to go.',
    status: 'Who asks, whose turn it is, and what each says of itself.',
  },
  'lifecycle/v1alpha1.EvictionSpec': { target: 'What is to go. Cannot be changed.' },
  'lifecycle/v1alpha1.EvictionTarget': TARGET,
  'lifecycle/v1alpha1.EvictionPodReference': POD,
  'lifecycle/v1alpha1.EvictionStatus': {
    conditions: CONDITIONS,
    observedGeneration: OBSERVED,
    requesters: 'Everybody who asks, or has asked.',
    targetResponders: 'Who makes the pod go, with whose turn it is.',
    responders: 'What each responder says of itself; only the one whose turn it is changes its entry.',
  },
  'lifecycle/v1alpha1.Requester': { name: 'Who asks.', intent: 'Eviction, or Withdrawn.' },
  'lifecycle/v1alpha1.TargetResponder': {
    name: 'Who responds, as a key with a domain.',
    priority: 'Higher ones have their turn first.',
    state: 'Inactive, Active, and then Completed, Interrupted or Canceled.',
  },
  'lifecycle/v1alpha1.ResponderStatus': {
    name: 'Who responds.',
    startTime: 'When its turn began.',
    heartbeatTime: 'When it was heard of last; after 20 minutes of silence the next one has its turn.',
    expectedCompletionTime: 'When it means to be done.',
    completionTime: 'When it was done, whether the pod is gone or not.',
    message: 'What it has to say, for people.',
  },
  'core/v1.EvictionResponder': {
    name: 'Who wants a turn before the pod is evicted, as a key with a domain.',
    priority: 'Higher ones have their turn first, 1000 to 100000.',
  },
};
