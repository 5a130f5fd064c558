import { controllerOf } from '../../../api/core/owner.ts';
import { disruptionHistoryType } from '../../../api/quorate/disruption-history.ts';
import { maintenanceType } from '../../../api/quorate/maintenance.ts';
import { rule } from '../../../api/policy-rule.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { nodeType, podType } from '../../../api/resource-types.ts';
import { AnswerQueue, DisruptionRecorder } from '../../../decisions/history/index.ts';
import { type Controller, type ControllerContext, defineController } from '../../../machinery/runtime/index.ts';
import { nameHash } from '../../../machinery/values/index.ts';
import type { ControllerHost, OwnController } from '../own-controller.ts';
import { HistoryBook } from './book.ts';
import { DEFAULT_BOUNDS, HOME_NAMESPACE, type HistoryOptions, type RecordDeps } from './deps.ts';
import { keepRecord } from './keep.ts';
import { openMeters } from './meters.ts';
import { ownIndex } from './own-index.ts';
import { keepAsReplica } from './replica.ts';
import { BY_OWNER } from './seen.ts';
import { PodTracker } from './tracker.ts';

const LEADER = 'leader';
const EVERY_MS = 1000;

/** Keeps the record of disruptions: sees which pods go, finds out why, and writes it down a moment later. */
function createHistoryController(options: HistoryOptions, hasMaintenances: boolean): Controller {
  return defineController<RecordDeps>({
    name: 'history',
    deps: (context) => openDeps(context, options, hasMaintenances),
    passes: [{ everyMs: options.everyMs ?? EVERY_MS, pass: keepRecord, atStart: true }],
  });
}

function openDeps(context: ControllerContext, options: HistoryOptions, hasMaintenances: boolean): RecordDeps {
  const { client, clock, eventsFor, informers, leading, log, metrics } = context;
  const {
    answers = new AnswerQueue(),
    bounds = DEFAULT_BOUNDS,
    everyMs = EVERY_MS,
    namespace: home = HOME_NAMESPACE,
  } = options;
  const pods = informers.of(podType);
  pods.addIndex(BY_OWNER, (pod) => {
    const owner = controllerOf(pod);
    return owner === undefined ? [] : [owner.uid];
  });
  const index = options.index ?? ownIndex(context, pods);
  const things = {
    index,
    pods,
    nodes: informers.of(nodeType),
    maintenances: hasMaintenances ? informers.of(maintenanceType) : undefined,
  };
  const recorder = new DisruptionRecorder({ writer: LEADER, isOurs: options.isOurs });
  const tracker = new PodTracker(things, recorder, clock);
  const book = new HistoryBook({ client, writer: LEADER, home, bounds });
  const deps: RecordDeps = {
    ...things,
    client,
    clock,
    log,
    events: eventsFor('history'),
    answers,
    recorder,
    tracker,
    book,
    meters: openMeters(metrics, clock, () => book.size),
    home,
    hasReplicas: leading !== undefined,
    state: {
      isOpen: false,
      reached: '',
      reachedAt: 0,
      namelessUntil: 0,
      subjects: new Map(),
      told: new Map(),
    },
  };
  pods.addHandler({
    added: (pod) => tracker.added(pod),
    updated: (pod, old) => tracker.updated(pod, old),
    deleted: (pod) => tracker.deleted(pod),
  });
  const writer = nameHash(options.replica ?? '');
  const groupOf = (namespace: string, name: string): string | undefined => tracker.groupOf(namespace, name);
  keepAsReplica(context, {
    answers,
    home,
    writer,
    bounds,
    everyMs,
    groupOf,
    meters: deps.meters,
    idle: () => tracker.idle(),
  });
  return deps;
}

export interface HistoryHost extends ControllerHost {
  readonly history?: HistoryOptions;
}

export const history: OwnController<HistoryHost> = {
  hosts: { embedded: 'DisruptionHistory', operator: 'ClusterDisruptionHistory' },
  needs: disruptionHistoryType as ResourceType,
  // Whether one of its pods is of an old template; the others are read by every installation.
  rights: [rule(['apps'], ['daemonsets'], ['get'])],
  create: ({ gates, history: options = {}, serves }) =>
    createHistoryController(options, gates.enabled('Maintenance') && serves(maintenanceType)),
};
