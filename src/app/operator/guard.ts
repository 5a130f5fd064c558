/** What this replica has to do with being asked: which configurations it keeps, and where budgets may be published. */
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Namespace } from '../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { disruptionPolicyType } from '../../api/quorate/disruption-policy.ts';
import { disruptionLedgerType } from '../../api/quorate/types.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { deploymentType, namespaceType, podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { OWN_SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import { lastForeignWriteMs, needsRoom } from '../../decisions/disruption/index.ts';
import {
  type Client,
  type Clock,
  FeatureGates,
  type InformerSet,
  isAlreadyExists,
  isForbidden,
  type Logger,
  type Metrics,
} from '../../machinery/runtime/index.ts';
import {
  ARMED_ANNOTATION,
  type Guarded,
  IGNORE_LABEL,
  labels,
  MODE_LABEL,
  NAME,
  operatorUser,
  type ReviewRequest,
  type ReviewResponse,
  SYSTEM_NAMESPACES,
} from '../../webhook/index.ts';
import { isServed, requestsServedBy } from './discovery.ts';
import { countGuarded } from './guard-metrics.ts';
import { GuardedNamespaces } from './guarded-namespaces.ts';
import type { OperatorOptions } from './options.ts';
import { whatIsMissing } from './reachable.ts';
import { keepRegistration, type Registration, type RegistrationKeeper } from './registration.ts';

export interface GuardSources {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  readonly isLeading: () => boolean;
  readonly authority: () => string;
  readonly port: () => number;
}

export interface Guard {
  readonly registered: RegistrationKeeper;
  /** Takes up the caches that tell which namespaces need us. */
  follow(informers: InformerSet): void;
  /** Whether the pod numbers of a budget there may be ours: evictions are judged, or nobody else counts. */
  /** The name by which the API server knows us. */
  readonly user: string;
  readonly mayPublish: (namespace: string) => boolean;
  /** Called with namespaces in which that has become so; `*` for all. */
  readonly onGuarded: (call: (namespaces: readonly string[]) => void) => void;
  /** Tells where somebody asks for groups, and calls when that may have changed. */
  readonly linking: (namespaces: () => readonly string[]) => () => void;
  /** Sees to it that new pods of a namespace are asked about, before somebody is admitted who asks for groups. */
  readonly expect: (namespace: string, signal: AbortSignal) => Promise<void>;
  /** Called with our Deployment and the name of a configuration that was deleted and could not be put back. */
  readonly onMissed: (call: (deployment: Deployment, configuration: string) => void) => void;
}

/** Who we are, whether DisruptionPolicies are served, and which kinds of Kubernetes by definitions of ours. */
async function findOut(client: Client, namespace: string) {
  const [user, policies, ownGroups, requestKinds] = await Promise.all([
    whoAmI(client, namespace),
    isServed(client, disruptionPolicyType),
    isServed(client, { group: OWN_SCHEDULING_GROUP, version: 'v1beta1', plural: 'workloads' }),
    requestsServedBy(client),
  ]);
  const kinds = { groups: ownGroups ? 'crd' : 'native', requestKinds: requestKinds ?? 'native' } as const;
  return { user, policies, kinds };
}

export async function createGuard(
  options: OperatorOptions,
  sources: GuardSources,
  registration: Registration,
): Promise<Guard> {
  const { client, clock, isLeading, log, metrics, signal } = sources;
  const { gates = new FeatureGates(), mode, namespace } = options;
  const { kinds, policies, user } = await findOut(client, namespace);
  let known: InformerSet | undefined;
  let calls: ((namespaces: readonly string[]) => void)[] = [];
  let asking: () => readonly string[] = () => [];
  let missed: ((deployment: Deployment, configuration: string) => void)[] = [];
  const tell = (names: readonly string[]): void => calls.forEach((call) => call(names));
  const guardsPods = gates.enabled('PodWebhook');
  const isExempt = (name: string): boolean =>
    SYSTEM_NAMESPACES.includes(name) ||
    name === namespace ||
    (known?.of(namespaceType).get({ name }) as Namespace | undefined)?.metadata.labels?.[IGNORE_LABEL] !== undefined;
  const findsRoom = gates.enabled('CapacityCheck');
  const needed = (): Guarded => inNeed(known, { guardsPods, findsRoom, policies, isExempt, asking: asking() });
  const registered = keepRegistration(
    {
      client,
      clock,
      log,
      signal,
      guarded: tell,
      arming: {
        isLeading: () => known !== undefined && isLeading(),
        options: {
          namespace,
          mode,
          user,
          failOpen: options.failOpen === true,
          certManager: false,
          ...kinds,
          groupCreation: gates.enabled('GroupCreation'),
          updates: gates.enabled('PodUnavailableBudgetUpdateGate'),
        },
        namespaces: new GuardedNamespaces(clock, needed),
        notAdopting: () => otherModes(client, options),
        missing: (reach) =>
          whatIsMissing({ client, namespace, authority: sources.authority, port: sources.port }, reach),
        othersWrite: () => othersWroteSince(known, clock.now() - (options.quietMs ?? QUIET_MS)),
        async putBack(type, last) {
          const deployment = known?.of(deploymentType).get({ namespace, name: NAME });
          const wasPut = await putBack(client, type, last, deployment);
          if (!wasPut && deployment !== undefined) missed.forEach((call) => call(deployment, last.metadata.name ?? ''));
          return wasPut;
        },
      },
    },
    registration,
  );
  countGuarded(metrics, registered);
  const look = lookSoon(clock, () => void registered.look());
  return {
    registered,
    follow(informers) {
      known = informers;
      followNeeds(informers, { guardsPods, policies }, look);
      if (findsRoom) followAsking(informers, look);
      // Counted before that was known, or labelled since: nothing else would bring them up.
      if (mode === 'replace') followExempt(informers, clock, { isExempt, tell });
      look();
    },
    user,
    mayPublish: (name) =>
      isExempt(name) ? mode === 'replace' : registered.isGuarded(name) && (mode !== 'adopt' || registered.isAdopting()),
    linking(namespaces) {
      asking = namespaces;
      return look;
    },
    expect: async (name, wanted) => (isExempt(name) ? undefined : registered.expect(name, wanted)),
    onGuarded: (call) => (calls = [...calls, call]),
    onMissed: (call) => (missed = [...missed, call]),
  };
}

function othersWroteSince(known: InformerSet | undefined, sinceMs: number): boolean {
  const lastMs = lastForeignWriteMs(known?.of(podDisruptionBudgetType).list() ?? []);
  return lastMs !== undefined && lastMs > sinceMs;
}

/** What comes and goes where somebody may have to be asked. */
function followNeeds(
  informers: InformerSet,
  { guardsPods, policies }: Pick<Needs, 'guardsPods' | 'policies'>,
  look: () => void,
): void {
  const types = [
    disruptionLedgerType,
    namespaceType,
    ...(policies ? [disruptionPolicyType] : []),
    ...(guardsPods ? [POD_UNAVAILABLE_BUDGETS] : []),
  ];
  for (const type of types as ResourceType<KubeObject>[]) informers.of(type).addHandler({ added: look, deleted: look });
}

/** Evictions are asked about where a budget asks for room. */
function followAsking(informers: InformerSet, look: () => void): void {
  const asked = ({ metadata }: PodDisruptionBudget): void => {
    if (needsRoom(metadata.annotations)) look();
  };
  informers.of(podDisruptionBudgetType).addHandler({ added: asked, updated: asked, deleted: asked });
}

/** Where nobody asks us about evictions and nobody else counts, the numbers of budgets are ours all the same. */
function followExempt(
  informers: InformerSet,
  clock: Clock,
  { isExempt, tell }: { isExempt: (namespace: string) => boolean; tell: (namespaces: readonly string[]) => void },
): void {
  const names = new Set<string>();
  const soon = lookSoon(clock, () => {
    const found = [...names];
    names.clear();
    tell(found);
  });
  const seen = ({ metadata: { name = '' } }: KubeObject): void => {
    if (!isExempt(name)) return;
    names.add(name);
    soon();
  };
  informers.of(namespaceType as ResourceType<KubeObject>).addHandler({ added: seen, updated: seen });
}

interface Needs {
  /** DisruptionPolicies are served. */
  readonly policies: boolean;
  readonly guardsPods: boolean;
  /** Budgets may ask for room. */
  readonly findsRoom: boolean;
  readonly isExempt: (namespace: string) => boolean;
  /** Where somebody asks for groups. */
  readonly asking: readonly string[];
}

/** The namespaces in which something needs us to be asked. */
function inNeed(known: InformerSet | undefined, { asking, findsRoom, guardsPods, isExempt, policies }: Needs): Guarded {
  const inUse = (namespaces: readonly string[]): string[] => [...new Set(namespaces)].filter((name) => !isExempt(name));
  const of = (objects: readonly KubeObject[] = []): string[] =>
    inUse(objects.map(({ metadata }) => metadata.namespace ?? ''));
  const pods = guardsPods ? of(known?.of(POD_UNAVAILABLE_BUDGETS).list()) : [];
  const ledgers = of(known?.of(disruptionLedgerType).list());
  const budgets = findsRoom ? (known?.of(podDisruptionBudgetType).list() ?? []) : [];
  const room = of(budgets.filter(({ metadata }) => needsRoom(metadata.annotations)));
  const limiting = policies ? known?.of(disruptionPolicyType).list() : [];
  // Limits may refuse, and who is told first does not go at once: a policy has one of them or both.
  const limited = of(limiting);
  return { evictions: [...new Set([...pods, ...ledgers, ...room, ...limited])], pods, links: inUse(asking) };
}

/** Within this time whoever else counts budgets has written the status of one. */
const QUIET_MS = 600_000;

/**
 * Makes a configuration again that was deleted, as it was installed. Not while the installation itself is being removed,
 * and only where the manifests allow it: the rights to make configurations are given by name nowhere.
 */
async function putBack(
  client: Client,
  type: ResourceType<KubeObject>,
  { apiVersion, kind, metadata }: KubeObject,
  deployment: Deployment | undefined,
): Promise<boolean> {
  if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return false;
  const { annotations = {}, labels: found, name } = metadata;
  const { [ARMED_ANNOTATION]: _, ...stated } = annotations;
  try {
    await client.create(type, {
      apiVersion,
      kind,
      metadata: { name, annotations: stated, ...(found === undefined ? {} : { labels: found }) },
    } as KubeObject);
    return true;
  } catch (error) {
    // Somebody else was faster.
    if (isAlreadyExists(error)) return true;
    if (isForbidden(error)) return false;
    throw error;
  }
}

/** A PodUnavailableBudget protects from the moment it is there: its namespace is asked about before. */
export async function reviewGuarded(
  { registered }: Guard,
  response: ReviewResponse,
  { dryRun, namespace, operation }: ReviewRequest,
): Promise<ReviewResponse> {
  if (response.allowed && operation === 'CREATE' && dryRun !== true) await registered.guard(namespace ?? '');
  return response;
}

const GATHER_MS = 100;

/** Many objects at once are one reason to look. */
function lookSoon(clock: Clock, look: () => void): () => void {
  let isComing = false;
  return () => {
    if (isComing) return;
    isComing = true;
    clock.after(GATHER_MS, () => {
      isComing = false;
      look();
    });
  };
}

/** While a replica of another mode runs, two would answer in two ways. */
async function otherModes(client: Client, { mode, namespace }: OperatorOptions): Promise<string | undefined> {
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const { items } = await client.list(podType, { namespace, labelSelector });
  const other = items.find(
    ({ metadata, status }) => status?.phase === 'Running' && metadata.labels?.[MODE_LABEL] !== mode,
  );
  return other && `replica ${other.metadata.name} still runs in another mode`;
}

/** Our own writes need not be asked about. */
async function whoAmI(client: Client, namespace: string): Promise<string> {
  try {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const { status } = await client.request<{ status?: { userInfo?: { username?: string } } }>('POST', path, body);
    return status?.userInfo?.username ?? operatorUser(namespace);
  } catch {
    return operatorUser(namespace);
  }
}
