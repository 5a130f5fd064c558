import type { Pod } from '../../../api/generated/core-v1.ts';
import { type DisruptionPolicy, disruptionPolicyType } from '../../../api/quorate/disruption-policy.ts';
import { keyOf } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import { DisruptionIndex, GROUP_KINDS, readPod } from '../../../decisions/disruption/index.ts';
import { readPolicy } from '../../../decisions/policies/index.ts';
import {
  type Controller,
  type ControllerContext,
  defineController,
  type Following,
  followServed,
  type Informer,
  wake,
  type Wakes,
  watch,
  type WorkQueue,
} from '../../../machinery/runtime/index.ts';
import { HeaderSecrets } from './header-secrets.ts';
import { type PolicyDeps, reconcileDisruptionPolicy } from './reconcile.ts';

const NAME = 'disruption-policy';

/** What happens to many pods of a group at once is looked at once. */
const GATHER_MS = 50;

interface Deps extends PolicyDeps {
  readonly pods: Informer<Pod>;
  readonly groups: Following;
  /** Wakes every policy of a namespace. */
  readonly wakeAll: (namespace: string) => void;
}

/** Keeps the ledgers of DisruptionPolicies: which groups are down, whole again or never went, and what may happen now. */
export const disruptionPolicyController: Controller = defineController<Deps>({
  name: NAME,
  deps: (context, queueOf) => gatherDeps(context, queueOf(NAME)),
  ready: ({ groups }) => groups.firstTry,
  watches: ({ index, pods, policies }) => {
    const seen = (policy: DisruptionPolicy): Wakes => {
      const { name = '', namespace = '' } = policy.metadata;
      // Pods are kept of namespaces with policies alone.
      const isFirst = !index.hasPolicies(namespace);
      index.setPolicy(readPolicy(policy, index.policy(namespace, name)));
      if (isFirst) for (const pod of pods.list(namespace)) index.setPod(readPod(pod));
      return keyOf(policy);
    };
    const concerned = ({ metadata: { namespace = '' } }: Pod): Wakes =>
      index.hasPolicies(namespace)
        ? policies.list(namespace).map((policy) => ({ key: keyOf(policy), afterMs: GATHER_MS }))
        : undefined;
    const seenPod = (pod: Pod): Wakes => {
      if (index.hasPolicies(pod.metadata.namespace ?? '')) index.setPod(readPod(pod));
      return concerned(pod);
    };
    return [
      watch(policies, {
        added: seen,
        updated: seen,
        deleted({ metadata: { name = '', namespace = '' } }) {
          index.deletePolicy(namespace, name);
          if (index.hasPolicies(namespace)) return undefined;
          for (const pod of pods.list(namespace)) index.deletePod(namespace, pod.metadata.name ?? '');
          return undefined;
        },
      }),
      watch(pods, {
        added: seenPod,
        updated: seenPod,
        deleted(pod) {
          const { name = '', namespace = '' } = pod.metadata;
          index.deletePod(namespace, name);
          return concerned(pod);
        },
      }),
    ];
  },
  reconcile: reconcileDisruptionPolicy,
});

function gatherDeps(context: ControllerContext, queue: WorkQueue): Deps {
  const { client, clock, informers } = context;
  const index = new DisruptionIndex();
  const policies = informers.of(disruptionPolicyType);
  const wakeAll = (namespace: string): void => {
    for (const policy of policies.list(namespace)) wake(queue, keyOf(policy));
  };
  const groups = followServed({
    context,
    kinds: GROUP_KINDS,
    seen: (row, object) => {
      row.set(index, object);
      wakeAll(object.metadata.namespace ?? '');
    },
    gone: (row, { metadata: { name = '', namespace = '' } }) => {
      row.delete(index, namespace, name);
      wakeAll(namespace);
    },
    found: () => {
      for (const policy of policies.list()) wake(queue, keyOf(policy));
    },
  });
  return {
    client,
    clock,
    index,
    policies,
    pods: informers.of(podType),
    groups,
    wakeAll,
    secrets: new HeaderSecrets(client),
  };
}
