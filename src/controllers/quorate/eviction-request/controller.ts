import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction, EvictionRequest } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { evictionRequestType, evictionType, LIFECYCLE_GROUP } from '../../../api/lifecycle/index.ts';
import { type DisruptionPolicy, disruptionPolicyType } from '../../../api/quorate/disruption-policy.ts';
import { type GroupEviction, groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { READ, rule } from '../../../api/policy-rule.ts';
import { podType } from '../../../api/resource-types.ts';
import { type Controller, defineController, watch, type Wakes } from '../../../machinery/runtime/index.ts';
import { BY_TARGET, indexByTarget, targetKey, targetKeyOf } from '../../shared/eviction-targets.ts';
import type { ControllerHost, OwnController } from '../own-controller.ts';
import { BY_OWNER, BY_POD_NAME, type EvictionRequestDeps } from './deps.ts';
import { GroupLooks } from './groups.ts';
import { countRequests } from './metrics.ts';
import { reconcileTarget } from './reconcile.ts';

const STANDS_BACK =
  'another controller answers EvictionRequests: this one leaves them to it (--eviction-request-controller=On takes them back)';

/** `Auto`: until another controller is seen at work. */
export type EvictionRequestMode = 'Auto' | 'On' | 'Off';

export interface EvictionRequestHost extends ControllerHost {
  /** Default: `On`. */
  readonly evictionRequests?: EvictionRequestMode | undefined;
}

/** Makes Evictions of EvictionRequests, gives each responder its turn, and is the last one of them itself. */
export function createEvictionRequestController({ groupEvictions = true, standsBack = false } = {}): Controller {
  return defineController<EvictionRequestDeps>({
    name: 'eviction-request',
    deps: ({ client, clock, informers, log, metrics }) => {
      const requests = informers.of(evictionRequestType);
      const evictions = informers.of(evictionType);
      indexByTarget(requests);
      indexByTarget(evictions);
      evictions.addIndex(BY_POD_NAME, ({ metadata, spec }) => {
        const name = spec?.target?.pod?.name;
        return name === undefined ? [] : [`${metadata.namespace ?? ''}/${name}`];
      });
      countRequests(metrics, requests);
      const groups = groupEvictions ? informers.of(groupEvictionType) : undefined;
      groups?.addIndex(BY_OWNER, ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid));
      const looks = groupEvictions ? new GroupLooks(client, clock) : undefined;
      if (looks !== undefined) {
        const forget = ({ metadata }: DisruptionPolicy): void => looks.forget(metadata.namespace ?? '');
        const updated = (policy: DisruptionPolicy, old: DisruptionPolicy): void => {
          if (policy.metadata.generation !== old.metadata.generation) forget(policy);
        };
        informers.of(disruptionPolicyType).addHandler({ added: forget, updated, deleted: forget });
      }
      return {
        client,
        clock,
        requests,
        evictions,
        pods: informers.of(podType),
        groups: looks,
        groupEvictions: groups,
        memories: new Map(),
        others: standsBack ? { found: undefined, tell: (manager) => log.warn({ manager }, STANDS_BACK) } : undefined,
      };
    },
    watches: ({ evictions, groupEvictions: groups, pods, requests }) => {
      const ofPod = ({ metadata: { name, namespace, uid } }: Pod): Wakes => {
        const key = targetKey({ namespace, name, uid });
        const isTarget = [requests, evictions].some((cache) => cache.byIndex(BY_TARGET, key).length > 0);
        return isTarget ? key : undefined;
      };
      // One that was made for a pod that nobody asks for any more is taken back.
      const ofOwners = ({ metadata: { namespace, ownerReferences = [] } }: GroupEviction): Wakes =>
        ownerReferences.flatMap(({ name, uid }) => {
          const owner = evictions.get({ namespace, name });
          const key = owner?.metadata.uid === uid ? targetKeyOf(owner as Eviction) : undefined;
          return key === undefined ? [] : [key];
        });
      return [
        ...(groups === undefined ? [] : [watch(groups, { added: ofOwners })]),
        watch(requests, (request: EvictionRequest) => targetKeyOf(request)),
        watch(evictions, (eviction: Eviction) => targetKeyOf(eviction)),
        watch(pods, { added: (pod, initial) => (initial ? undefined : ofPod(pod)), updated: ofPod, deleted: ofPod }),
      ];
    },
    reconcile: reconcileTarget,
    backOff: { maxDelayMs: 15_000 },
  });
}

export const evictionRequest: OwnController<EvictionRequestHost> = {
  hosts: { embedded: 'EvictionRequestAPI', operator: 'EvictionRequestAPI' },
  feature: 'evictionRequests',
  rights: [
    rule([LIFECYCLE_GROUP], ['evictionrequests'], READ),
    rule([LIFECYCLE_GROUP], ['evictions'], [...READ, 'create', 'patch']),
    rule([LIFECYCLE_GROUP], ['evictionrequests/status', 'evictions/status'], ['update']),
    rule([''], ['pods/eviction'], ['create']),
  ],
  // Groups go whole where they can; elsewhere their pods go one by one.
  rightsWith: { groupEvictions: [rule(['policy.quorate.dev'], ['groupevictions'], ['create', 'delete', 'patch'])] },
  create({ evictionRequests = 'On', gates, serves }) {
    if (evictionRequests === 'Off' || !serves(evictionRequestType)) return undefined;
    const groupEvictions = [groupEvictionType, disruptionPolicyType].every(serves) && gates.enabled('GroupEviction');
    return createEvictionRequestController({ groupEvictions, standsBack: evictionRequests === 'Auto' });
  },
};
