/** What the reviews and the controllers of one replica decide by: the same caches, counts and ledgers. */
import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { groupEvictionType } from '../../api/quorate/group-eviction.ts';
import { maintenanceType } from '../../api/quorate/maintenance.ts';
import { disruptionLedgerType } from '../../api/quorate/types.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { type OwnHost, ownControllers } from '../../controllers/quorate/index.ts';
import { ledgerBook } from '../../controllers/quorate/disruption/index.ts';
import { DisruptionIndex } from '../../decisions/disruption/index.ts';
import { AnswerQueue } from '../../decisions/history/index.ts';
import { BudgetIndexes, UnavailabilityFeed, unavailabilityGates } from '../../decisions/unavailability/index.ts';
import {
  type Client,
  type Transport,
  type Clock,
  FeatureGates,
  Metrics,
  STALLED_MS,
  systemClock,
} from '../../machinery/runtime/index.ts';
import {
  BudgetCopies,
  DrainReports,
  keepStatus,
  LedgerDesk,
  measureLedgers,
  type NamespaceFollower,
  Publisher,
  reviewAllBudgets,
  reviewBudget,
  reviewDisruptionPolicy,
  reviewEvictionRequest,
  reviewGroup,
  reviewGroupEviction,
  type ReviewHandler,
  reviewPod,
  reviewStatus,
  type RoomFollower,
  type RoomHolder,
  sawPodsOfNow,
  type TellJudged,
} from '../../webhook/index.ts';
import { type Random, randomSuffix } from '../../machinery/values/index.ts';
import { type Components, openComponents } from '../run-components.ts';
import { createRefusalRecorder } from '../unavailability-refusals.ts';

import { countBudgets, countJudged } from './budget-metrics.ts';
import { servedKinds } from './discovery.ts';
import { tellBlockedDrains } from './drain-events.ts';
import { type Guard, reviewGuarded } from './guard.ts';
import type { OperatorOptions } from './options.ts';
import { countAdopted } from './reviews.ts';
import { createPickingHandlers } from './picking.ts';
import { noticesOf, settledGroup } from './group-evictions.ts';
import { openGroupMaking } from './group-making.ts';
import { maintenanceReviews } from './maintenances.ts';
import { openRoom } from './room.ts';
import { historyOptions, tellingAnswers } from './record.ts';
import { transforms } from './transforms.ts';

/** Groups of software beside ours. When it is uninstalled, budgets that never needed it must go on. */
const OTHERS = new Set(['leaderworkerset.x-k8s.io', 'apps.kruise.io', 'jobset.x-k8s.io']);
/** What an eviction does to its pod and its budget comes in several events, which one count serves. */
const DEBOUNCE_MS = 50;
/** How often every budget is looked at without any event. */
const RESYNC_MS = 60_000;
/** A replica that is killed again and again holds no ledger when it dies. */
const HOLDS_AFTER_MS = 10_000;
/** Characters that tell the lives of a process apart. */
const LIFE_LENGTH = 8;

/**
 * A review that comes just after an eviction must not wait until what became of that one's pod is taken in, which is no
 * news. What people change (budgets, groups, nodes) is heard at once. See ADR 0011.
 */
const PODS_LATER = new Map([['pods', 20]]);
/** Whether somebody else writes the status of budgets, or answers requests, is seen from who wrote them. */
const WITH_WRITERS = new Set([
  'poddisruptionbudgets.policy',
  'evictionrequests.lifecycle.k8s.io',
  'evictions.lifecycle.k8s.io',
]);

export interface JudgesParts {
  readonly client: Client;
  readonly clock: Clock;
  /** How far this machine's clock is ahead of the API server's. Absent: not at all. */
  readonly skewMs?: (() => number) | undefined;
  /** Resolves when this replica may write. */
  readonly leading: Promise<void>;
  readonly isLeading: () => boolean;
  readonly metrics: Metrics;
  readonly send: Transport;
  readonly hasUnknownHistory: (budget: PodDisruptionBudget) => boolean;
  readonly signal: AbortSignal;
  readonly guard: Guard;
  /** For names. Default: `Math.random`. */
  readonly random?: Random | undefined;
}

export interface Judges {
  readonly components: Components;
  readonly ledgers: LedgerDesk;
  /** Whether the pods of all namespaces that are known here are those of now. */
  readonly sawPods: (signal: AbortSignal) => Promise<boolean>;
  /** Answers reviews, by path. */
  readonly handlers: ReadonlyMap<string, ReviewHandler>;
  readonly startControllers: () => void;
  /** How long ago every budget was looked at, or this replica began to lead. */
  readonly resyncAgeMs: () => number;
}

/** Reviews that know all they need from the object and the time. */
const rulesAlone = (clock: Clock): readonly (readonly [string, ReviewHandler])[] => [
  ['/validate-pod-groups', (request) => Promise.resolve(reviewGroup(request))],
  ['/validate-policies', (request) => Promise.resolve(reviewDisruptionPolicy(request))],
  ['/validate-requests', (request) => Promise.resolve(reviewEvictionRequest(clock, request))],
];

export async function openJudges(options: OperatorOptions, parts: JudgesParts): Promise<Judges> {
  const { client, clock, metrics } = parts;
  const { gates = new FeatureGates(), log } = options;
  const serves = await servedKinds(client);
  const components = openComponents({
    transportFor: () => parts.send,
    clock,
    log,
    metrics,
    leading: parts.leading,
    transforms,
    withWriters: WITH_WRITERS,
    stalledMs: STALLED_MS,
    optional: ({ group }) => OTHERS.has(group),
    gatherMs: PODS_LATER,
    ...(parts.random && { random: parts.random }),
  });
  const compat = options.compat === 'kruise';
  const feed = new UnavailabilityFeed(new BudgetIndexes({ compat }));
  const evictions = openEvictions(options, parts, components);
  const podGuard = {
    budgets: new BudgetCopies(client, feed.indexes),
    client,
    clock,
    podsResourceVersion: evictions.podsResourceVersion,
    indexes: feed.indexes,
    gates: unavailabilityGates(gates),
    scaleOf: feed.scaleOf,
    compat,
    refused: createRefusalRecorder({ metrics, events: components.eventsFor('pub-webhook'), log }),
  };
  const guardsPods = gates.enabled('PodWebhook');
  const room = gates.enabled('CapacityCheck')
    ? await openRoomOf(options, parts, { components, evictions, guardsPods, podIndexes: feed.indexes })
    : undefined;
  const givesNotice = gates.enabled('GroupEviction') && serves(groupEvictionType);
  const groups = { ...evictions, ...podGuard, room, roomJudge: () => evictions.index.room, givesNotice };
  const picking = createPickingHandlers(
    { enabled: gates.enabled('DownscalePodPicker'), ...options.pickers },
    { components, clock, log, metrics },
  );
  const { resyncAgeMs, resynced } = watchResyncs(parts);
  const answers = new AnswerQueue();
  const making = await openGroupMaking(options, { client, components, guard: parts.guard, metrics });
  const host: OwnHost = {
    gates,
    serves,
    disruption: budgetOptions(options, parts, { components, evictions, resynced }),
    unavailability: { feed, compat, forReplicas: true, room: () => evictions.index.room },
    settleGroup: (namespace, spec) => settledGroup(groups, namespace, spec),
    ...(givesNotice && { notices: noticesOf(groups, components.informers) }),
    groupMaking: making.parts,
    history: historyOptions(options, { answers, index: evictions.index }),
    evictionRequests: options.evictionRequests ?? 'Auto',
    noticeAddresses: options.pickers?.pickerAddresses,
    noticeCertificates: options.pickers?.pickerCertificates,
  };
  const controllers = ownControllers('operator', host, ({ kind }) =>
    log.warn({ kind }, `${kind}s are not served: apply the definitions of this version`),
  );
  const maintenances = gates.enabled('Maintenance') && serves(maintenanceType);
  return {
    components,
    ledgers: evictions.ledgers,
    sawPods: (signal) => sawPodsOfNow(evictions, undefined, signal),
    handlers: tellingAnswers({ answers, clock, index: evictions.index, feed }, [
      ...picking,
      ...making.handlers,
      ['/validate-eviction', (request, signal) => reviewAllBudgets(groups, request, signal)],
      ['/adopt-status', openAdoption(options, parts, evictions)],
      ['/validate-pods', (request, signal) => reviewPod(podGuard, request, signal)],
      ['/validate-groups', (request, signal) => reviewGroupEviction(groups, request, signal)],
      ...rulesAlone(clock),
      ['/validate-maintenances', maintenanceReviews(maintenances, parts, components)],
      ['/validate-budgets', (request) => reviewGuarded(parts.guard, reviewBudget(podGuard, request), request)],
    ]),
    startControllers: () => components.start(controllers),
    resyncAgeMs,
  };
}

/** How long ago every budget was looked at, or this replica began to lead. */
function watchResyncs({ clock, leading, metrics }: JudgesParts) {
  let resyncedMs = clock.elapsed();
  const resynced = (): void => {
    resyncedMs = clock.elapsed();
  };
  const resyncAgeMs = (): number => clock.elapsed() - resyncedMs;
  void leading.then(resynced);
  metrics.countedGauge('quorate_resync_age_seconds', () => [[{}, resyncAgeMs() / 1000]]);
  return { resynced, resyncAgeMs };
}

/** What evictions are judged by. */
function openEvictions(
  options: OperatorOptions,
  { client, clock, guard, isLeading, metrics, random = Math.random, signal, skewMs }: JudgesParts,
  { eventsFor, informers }: Components,
) {
  // The record, which names groups of every kind, counts with the same copy.
  const { gates = new FeatureGates() } = options;
  const everySet = gates.enabled('ClusterDisruptionHistory');
  const index = new DisruptionIndex({ everySet, now: () => clock.now() });
  const pods = informers.of(podType);
  const budgets = informers.of(podDisruptionBudgetType);
  const nodes = informers.of(nodeType);
  const follower: NamespaceFollower = {
    client,
    clock,
    podsResourceVersion: () => pods.resourceVersion,
    podsIn: (namespace?: string) => pods.list(namespace),
  };
  // A process that is started again under the same name does not know what the one before it granted.
  const identity = `${options.identity}/${randomSuffix(random, LIFE_LENGTH)}`;
  const ledgers = new LedgerDesk({
    client,
    clock: options.clock ?? systemClock,
    now: () => clock.now(),
    index,
    ledgers: informers.of(disruptionLedgerType),
    sawPods: (namespace, wanted) => sawPodsOfNow(follower, namespace, wanted),
    identity,
    holdsAfterMs: HOLDS_AFTER_MS,
    log: options.log,
    signal,
    measure: measureLedgers(metrics, clock),
  });
  const budget = (namespace: string, name: string) => budgets.get({ namespace, name });
  const ledger = (namespace: string, name: string) => ledgers.get(namespace, name);
  const isAlongside = options.mode === 'alongside';
  const { mayPublish } = guard;
  const tidies = options.mode === 'replace';
  const writer = new Publisher({ client, clock, index, ledger, budget, mayPublish, tidies, metrics });
  const drains = new DrainReports({ ledgers, clock });
  const known = { clock, index, drains, budgets, ledgers: informers.of(disruptionLedgerType) };
  countBudgets(metrics, known);
  const events = eventsFor('quorate');
  tellBlockedDrains({ ...known, budget, events, isLeading });
  const count = countJudged(metrics);
  return {
    ...follower,
    skewMs,
    index,
    budget,
    ledger,
    writer,
    isCordoned: (name: string) => nodes.get({ name })?.spec?.unschedulable === true,
    ledgers,
    identity,
    notHeld: (({ apiVersion, kind, name, namespace, uid }, why) => {
      const about = { apiVersion, kind, metadata: { name, namespace, uid } };
      events.record(about, 'Warning', 'ReserveFailed', `granted without a hold: ${why}`);
    }) as NonNullable<RoomHolder['notHeld']>,
    changes: isAlongside ? ('read' as const) : ('barrier' as const),
    publisher: isAlongside ? undefined : writer,
    judged: ((pod, judged) => {
      count(pod, judged);
      drains.judged(pod, judged);
    }) as TellJudged,
  };
}

function openRoomOf(
  { log }: OperatorOptions,
  { client, clock, send, signal }: JudgesParts,
  {
    components,
    evictions,
    guardsPods,
    podIndexes,
  }: {
    components: Components;
    evictions: ReturnType<typeof openEvictions>;
    guardsPods: boolean;
    podIndexes: BudgetIndexes;
  },
): Promise<RoomFollower> {
  const budgets = components.informers.of(podDisruptionBudgetType);
  const ledgers = components.informers.of(disruptionLedgerType);
  const { identity, index } = evictions;
  // Ends with the components too.
  const ending = AbortSignal.any([signal, components.signal]);
  const podBudgets = guardsPods ? components.informers.of(POD_UNAVAILABLE_BUDGETS) : undefined;
  return openRoom({
    client,
    clock,
    log,
    send,
    signal: ending,
    index,
    budgets,
    podBudgets,
    podIndexes,
    ledgers,
    identity,
  });
}

/** Alongside, the numbers of budgets are not ours: what another mode has put in is left to who takes it out. */
function openAdoption(
  { mode, publication }: OperatorOptions,
  { clock, guard, metrics }: JudgesParts,
  { index, ledger, podsResourceVersion }: ReturnType<typeof openEvictions>,
): ReviewHandler {
  if (mode === 'alongside') return (request) => Promise.resolve(keepStatus(request));
  const { mayPublish } = guard;
  const answered = countAdopted(metrics);
  const adoption = { clock, index, ledger, mayPublish, podsResourceVersion, answered, formula: publication };
  return (request, signal) => reviewStatus(adoption, request, signal);
}

/** What keeps the numbers of budgets, shared with those who judge by them. */
function budgetOptions(
  { mode, publication, settlingMs }: OperatorOptions,
  { client, clock, guard, hasUnknownHistory, metrics }: JudgesParts,
  {
    components,
    evictions,
    resynced,
  }: { components: Components; evictions: ReturnType<typeof openEvictions>; resynced: () => void },
): NonNullable<OwnHost['disruption']> {
  const { eventsFor, informers } = components;
  const { index, ledgers, publisher, writer } = evictions;
  const events = eventsFor('quorate');
  const foreignWrites = metrics.counter('quorate_foreign_status_writes_total');
  guard.onMissed((deployment, name) => {
    const what = `the webhook configuration ${name} was deleted and cannot be put back: apply the manifests again`;
    events.record(deployment, 'Warning', 'Unguarded', what);
  });
  return {
    index,
    debounceMs: DEBOUNCE_MS,
    settlingMs,
    book: () =>
      ledgerBook({
        client,
        clock,
        events,
        budgets: informers.of(podDisruptionBudgetType),
        ledgers,
        pods: informers.of(podType),
        countsPods: mode === 'replace',
        publisher,
        unmark: (key) => (guard.registered.hasAbandoned() ? writer.unmark(key) : undefined),
        onGuarded: guard.onGuarded,
        hasUnknownHistory,
        formula: publication,
        unguarded: () => guard.registered.deleted(),
        foreignWrite: () => foreignWrites.inc(),
      }),
    // Where Kubernetes' own controller runs, it takes back what it said of pods that did not go.
    clearsStaleTargets: mode === 'replace',
    resyncMs: RESYNC_MS,
    resynced,
  };
}
