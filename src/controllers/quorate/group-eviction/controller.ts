import { evictionRequestType, evictionType, LIFECYCLE_GROUP } from '../../../api/lifecycle/index.ts';
import { EVICTED, type GroupEviction, groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { READ, rule } from '../../../api/policy-rule.ts';
import { formatKey, type KubeObject, keyOf, type ObjectKey, type ResourceType } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  type Controller,
  defineController,
  type Informers,
  wake,
  watch,
  type Wakes,
} from '../../../machinery/runtime/index.ts';
import { indexByTarget } from '../../shared/eviction-targets.ts';
import { type AddressRules, createAddressPolicy } from '../../shared/picker/index.ts';
import type { ControllerHost, OwnController } from '../own-controller.ts';
import { type GroupEvictionDeps, JOINED, type NoticeHost, RUNNING, type SettleGroup } from './deps.ts';
import { HttpChannel } from './http-channel.ts';
import { podChannel } from './pod-channel.ts';
import { reconcileGroupEviction } from './reconcile.ts';
import { requestChannel, type RequestChannelOptions } from './request-channel.ts';

/** What happens to many members at once is looked at once. */
const GATHER_MS = 50;
const NAME = 'group-eviction';

/** Where those who are called may live, and whose certificates they may show: the rules of pod pickers. */
export interface NoticeCalls {
  readonly noticeAddresses?: AddressRules | undefined;
  readonly noticeCertificates?: string | undefined;
}

/**
 * Carries out GroupEvictions that were granted, follows notices to their end, and removes what is over. Without `settle`
 * groups go in transactions of the API server, as on the embedded host.
 */
export function createGroupEvictionController(
  host: { settle?: SettleGroup; notices?: NoticeHost; evictionRequests?: boolean } & NoticeCalls = {},
): Controller {
  return defineController<GroupEvictionDeps>({
    name: NAME,
    deps: ({ client, clock, eventsFor, informers, metrics, signal }, queueOf) => {
      const calls = metrics.counter('quorate_notice_calls_total');
      const evictions = informers.of(groupEvictionType);
      evictions.addIndex(RUNNING, (one) => (isTold(one) ? [one.metadata.namespace ?? ''] : []));
      evictions.addIndex(JOINED, ({ metadata, status }) =>
        status?.joined === undefined ? [] : [`${metadata.namespace ?? ''}/${status.joined}`],
      );
      const asking = host.evictionRequests === true ? informersOfRequests(informers) : undefined;
      const again = (key: ObjectKey): void => wake(queueOf(NAME), formatKey(key));
      const seconds = metrics.histogram('quorate_notice_seconds');
      return {
        client,
        clock,
        events: eventsFor(NAME),
        evictions,
        evictionsOfPods: asking?.evictions,
        pods: informers.of(podType),
        settle: host.settle,
        notices: host.notices,
        channels: {
          Pod: podChannel(client, clock),
          ...(asking && { EvictionRequest: requestChannel({ client, clock, wake: again, ...asking }) }),
          HTTP: new HttpChannel({
            client,
            clock,
            signal,
            addresses: createAddressPolicy(host.noticeAddresses),
            extraCertificates: host.noticeCertificates,
            wake: again,
            counted: (result) => calls.inc({ result }),
          }),
        },
        memories: new Map(),
        measured: (state, took) => seconds.observe({ state }, took),
      };
    },
    watches: ({ evictions, evictionsOfPods, pods }) => {
      const related = (one: GroupEviction): Wakes => {
        const { name = '', namespace = '' } = one.metadata;
        const joined = evictions.byIndex(JOINED, `${namespace}/${name}`).map(keyOf);
        const first = one.status?.joined;
        return [keyOf(one), ...joined, ...(first === undefined ? [] : [`${namespace}/${first}`])];
      };
      const inNamespace = ({ metadata }: KubeObject): Wakes =>
        evictions.byIndex(RUNNING, metadata.namespace ?? '').map((one) => ({ key: keyOf(one), afterMs: GATHER_MS }));
      return [
        watch(evictions, { added: related, updated: related, deleted: related }),
        watch(pods, {
          added: (pod, initial) => (initial ? undefined : inNamespace(pod)),
          updated: inNamespace,
          deleted: inNamespace,
        }),
        ...(evictionsOfPods === undefined ? [] : [watch(evictionsOfPods, inNamespace)]),
      ];
    },
    reconcile: reconcileGroupEviction,
    backOff: { maxDelayMs: 15_000 },
  });
}

function informersOfRequests(informers: Informers): Pick<RequestChannelOptions, 'evictions' | 'requests'> {
  const evictions = informers.of(evictionType);
  const requests = informers.of(evictionRequestType);
  indexByTarget(evictions);
  indexByTarget(requests);
  return { evictions, requests };
}

const isTold = ({ status }: GroupEviction): boolean =>
  status?.notice !== undefined && status.conditions?.some(({ type }) => type === EVICTED) !== true;

export interface GroupEvictionHost extends ControllerHost, NoticeCalls {
  readonly settleGroup?: SettleGroup;
  readonly notices?: NoticeHost;
}

export const groupEviction: OwnController<GroupEvictionHost> = {
  hosts: { embedded: 'always', operator: 'GroupEviction' },
  needs: groupEvictionType as ResourceType,
  feature: 'groupEvictions',
  // Every budget is charged first; then the pods are told and deleted, as the API server does for a single one.
  rights: [
    rule(['policy'], ['poddisruptionbudgets/status'], ['update']),
    rule([''], ['pods/status'], ['patch']),
    // `patch`: members that are told find that on their pods.
    rule([''], ['pods'], ['delete', 'patch']),
    rule(['policy.quorate.dev'], ['groupevictions'], ['create', 'patch']),
    // For members of groups that have to be told first, a GroupEviction is made: that takes the right to evict.
    rule([''], ['pods/eviction'], ['create']),
  ],
  rightsWith: {
    // Whoever responds for members is told by requests of ours; what is said there is read.
    evictionRequests: [
      rule([LIFECYCLE_GROUP], ['evictionrequests'], [...READ, 'create', 'patch']),
      rule([LIFECYCLE_GROUP], ['evictions'], READ),
    ],
  },
  create: ({ gates, noticeAddresses, noticeCertificates, notices, serves, settleGroup }) =>
    createGroupEvictionController({
      evictionRequests: gates.enabled('EvictionRequestAPI') && serves(evictionRequestType),
      noticeAddresses,
      noticeCertificates,
      ...(settleGroup && { settle: settleGroup }),
      ...(notices && { notices }),
    }),
};
