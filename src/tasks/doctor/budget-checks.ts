/** What the budgets of a cluster, and the ledgers beside them, tell about who counts them. */
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { DisruptionLedger } from '../../api/quorate/types.ts';
import type { KubeObject } from '../../api/resource.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { isMarked } from '../../decisions/disruption/index.ts';
import { SYSTEM_NAMESPACES } from '../../webhook/index.ts';
import type { ClusterFacts } from './facts.ts';
import { cannotTell, fail, type DoctorFinding, ok, skip, warn } from './finding.ts';
import { serverNowMs } from './server-time.ts';

const LOOSE = 100_000;
const DIFFERS_MS = 60_000;
/** A holder that died holds a changed budget back for 75 s at most. */
const BARRIER_MS = 90_000;
const SHOWN = 5;

interface Counted {
  readonly budget: PodDisruptionBudget;
  readonly ledger: DisruptionLedger | undefined;
}

export function checkBudgets(facts: ClusterFacts): DoctorFinding[] {
  const check = 'budgets';
  if (facts.embedded) return [skip(check, 'the embedded host counts them itself')];
  const hidden = facts.budgets.hidden ?? facts.ledgers.hidden;
  if (hidden !== undefined) return [cannotTell(check, hidden)];
  const ledgers = new Map((facts.ledgers.value ?? []).map((one) => [keyOf(one), one]));
  const all = (facts.budgets.value ?? []).map((budget) => ({ budget, ledger: ledgers.get(keyOf(budget)) }));
  const findings = [
    looseNumbers(facts, all),
    otherNumbers(facts, all),
    tighterCount(facts, all),
    heldBack(facts, all),
    wrongLedgers(facts, all),
    deadHolds(facts, all),
    exemptBudgets(facts, all),
    sharedPods(facts),
  ].flatMap((one) => one ?? []);
  const counted = all.filter(({ ledger }) => ledger?.status?.unit === 'PodGroup').length;
  return findings.length > 0
    ? findings
    : [ok(check, `${all.length} budgets, ${counted} of them over groups, are in order`)];
}

const keyOf = ({ metadata: { name = '', namespace = '' } }: KubeObject): string => `${namespace}/${name}`;
const names = (found: readonly Counted[]): string => {
  const shown = found.slice(0, SHOWN).map(({ budget }) => keyOf(budget));
  return `${shown.join(', ')}${found.length > SHOWN ? `, and ${found.length - SHOWN} more` : ''}`;
};

function looseNumbers(_: ClusterFacts, all: readonly Counted[]): DoctorFinding | undefined {
  const found = all.filter(({ budget }) => (budget.status?.disruptionsAllowed ?? 0) >= LOOSE);
  if (found.length === 0) return undefined;
  return fail(
    'budgets',
    `${names(found)} allow ${LOOSE} pods or more to go, which misleads preemption, autoscalers and alerts`,
    'upgrade the operator: its leader puts true numbers in',
  );
}

const MESSAGE = /^(\d+) of (\d+) groups are available, (\d+) must stay/;

/** The words of the marker follow from numbers in groups, which are the ledger's. */
function otherNumbers(facts: ClusterFacts, all: readonly Counted[]): DoctorFinding | undefined {
  const found = all.filter(({ budget, ledger }) => {
    if (!isMarked(budget) || ledger?.status === undefined) return false;
    const marker = budget.status?.conditions?.find(({ type }) => type === 'CountsGroups');
    const [, available, expected, desired] = (MESSAGE.exec(marker?.message ?? '') ?? []).map(Number);
    const { currentHealthy, desiredHealthy, expectedPods } = ledger.status;
    const isSame = available === currentHealthy && expected === expectedPods && desired === desiredHealthy;
    return !isSame && writtenMsAgo(facts, ledger) > DIFFERS_MS;
  });
  if (found.length === 0) return undefined;
  return fail(
    'budgets',
    `the numbers of ${names(found)} are not those of their ledgers`,
    `the leader puts them right every minute: look at its log in namespace ${facts.namespace}`,
  );
}

function tighterCount({ mode }: ClusterFacts, all: readonly Counted[]): DoctorFinding | undefined {
  if (mode !== 'alongside') return undefined;
  const found = all.filter(({ ledger }) =>
    ledger?.status?.conditions?.some(({ status, type }) => type === 'BuiltInCountTighter' && status === 'True'),
  );
  if (found.length === 0) return undefined;
  return fail(
    'budgets',
    `Kubernetes counts pods for ${names(found)} and may refuse what the groups would allow`,
    'install with --mode adopt, or give these budgets an integer minAvailable',
  );
}

function heldBack(facts: ClusterFacts, all: readonly Counted[]): DoctorFinding | undefined {
  const found = all.filter(({ budget }) => {
    const { metadata, status } = budget;
    if ((status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)) return false;
    return changedMsAgo(facts, budget) > BARRIER_MS;
  });
  if (found.length === 0) return undefined;
  return fail(
    'budgets',
    `no eviction under ${names(found)} is granted: nobody has said that their last change counts`,
    facts.mode === 'replace' || found.some(({ ledger }) => ledger !== undefined)
      ? `look at the leader: kubectl logs -l app.kubernetes.io/name=quorate -n ${facts.namespace}`
      : "start Kubernetes' own disruption controller, or install with --mode replace",
  );
}

function wrongLedgers({ mode }: ClusterFacts, all: readonly Counted[]): DoctorFinding | undefined {
  const found = all.filter(({ budget, ledger }) => {
    if (ledger === undefined) return mode !== 'alongside' && isMarked(budget);
    return ledger.status?.budgetUID !== undefined && ledger.status.budgetUID !== budget.metadata.uid;
  });
  if (found.length === 0) return undefined;
  return fail(
    'ledgers',
    `${names(found)} have no ledger, or that of another budget of the same name: nothing is granted under them`,
    'the leader makes them within a minute; see that one leads, and that the definition of DisruptionLedger is served',
  );
}

function deadHolds(facts: ClusterFacts, all: readonly Counted[]): DoctorFinding | undefined {
  const found = all.filter(
    ({ ledger }) => ledger?.status?.hold?.recalled === true && writtenMsAgo(facts, ledger) > BARRIER_MS,
  );
  if (found.length === 0) return undefined;
  return fail(
    'ledgers',
    `${names(found)} are held by a replica that does not answer`,
    'see which replica status.hold names, and that the others reach the API server',
  );
}

function exemptBudgets({ ignored, namespace }: ClusterFacts, all: readonly Counted[]): DoctorFinding | undefined {
  const exempt = new Set([...SYSTEM_NAMESPACES, namespace, ...(ignored.value ?? [])]);
  const found = all.filter(
    ({ budget, ledger }) => ledger?.status?.unit === 'PodGroup' && exempt.has(budget.metadata.namespace ?? ''),
  );
  if (found.length === 0) return undefined;
  return warn(
    'budgets',
    `${names(found)} are in namespaces that Quorate is not asked about: Kubernetes counts their pods`,
    'move the pods, or take the label policy.quorate.dev/ignore off the namespace',
  );
}

function sharedPods({ shared }: ClusterFacts): DoctorFinding | undefined {
  const found = shared.value ?? [];
  if (found.length === 0) return undefined;
  return warn(
    'budgets',
    `two budgets select the same grouped pod, so Kubernetes refuses to evict it: ${found.slice(0, SHOWN).join(', ')}`,
    'let one budget select each pod',
  );
}

/** Kubernetes 1.37 does not start on objects of versions that it no longer serves. */
export function checkGroupVersions({ oldGroups, version }: ClusterFacts): DoctorFinding[] {
  if (oldGroups.hidden !== undefined || !/^v?1\.3[56]\b/.test(version) || (oldGroups.value ?? 0) === 0) return [];
  return [
    warn(
      'group versions',
      `there are ${oldGroups.value} Workloads and PodGroups in versions that must be gone before an upgrade to 1.37`,
      'quorate migrate groups moves them without restarting a pod',
    ),
  ];
}

function writtenMsAgo(facts: ClusterFacts, object: PodDisruptionBudget | DisruptionLedger): number {
  return serverNowMs(facts) - lastWriteMs(object, 'status');
}

/** Since its spec changed, as far as the API server recorded it. */
function changedMsAgo(facts: ClusterFacts, object: PodDisruptionBudget): number {
  return serverNowMs(facts) - lastWriteMs(object, undefined);
}

function lastWriteMs({ metadata }: PodDisruptionBudget | DisruptionLedger, part: 'status' | undefined): number {
  const entries = (metadata.managedFields ?? []).filter(({ subresource }) => (subresource || undefined) === part);
  const times = [metadata.creationTimestamp, ...entries.map(({ time }) => time)].flatMap(
    (time) => parseTime(time) ?? [],
  );
  return Math.max(0, ...times);
}
