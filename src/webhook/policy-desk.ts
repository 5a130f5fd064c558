import { type DisruptionPolicy, disruptionPolicyType } from '../api/quorate/disruption-policy.ts';
import {
  answerRefusal,
  type CountedPod,
  type DisruptionIndex,
  exemptionOf,
  isUp,
  judgeLimits,
  type LimitCharge,
  processing,
} from '../decisions/disruption/index.ts';
import { chargedLedger, goingIn, isUnderWay, readPolicy } from '../decisions/policies/index.ts';
import { type Client, existing, isConflict, sleep } from '../machinery/runtime/index.ts';
import { type Undo, type Write, writeAllOrNone } from './all-or-none.ts';
import { answer, clockSkewed, tell } from './eviction-answers.ts';
import { type NamespaceFollower, sawPodsOfNow } from './pods-seen.ts';
import type { ReviewResponse } from './review.ts';

export interface PolicyDesk extends NamespaceFollower {
  readonly index: DisruptionIndex;
  /** How far this machine's clock is ahead of the API server's. Absent: not at all. */
  readonly skewMs?: (() => number) | undefined;
}

/** The policies with limits over some pods, as the API server has them now. */
export type OpenPolicies = ReadonlyMap<string, DisruptionPolicy>;

const ATTEMPTS = 20;
const RETRY_MS = 25;
/** A replica whose clock differs by more does not judge limits over time. */
const MAX_SKEW_MS = 30_000;

/**
 * Reads the policies with limits that speak for the groups of pods, and lets the index go by what was read. Refuses where
 * this machine's clock is wrong, and where a pod would go uncounted and our pods are not those of now: what looks like a
 * spare may be the last that is needed.
 */
export async function openPolicies(
  desk: PolicyDesk,
  pods: readonly Pick<CountedPod, 'namespace' | 'name'>[],
  signal: AbortSignal,
): Promise<OpenPolicies | { readonly response: ReviewResponse }> {
  const { client, clock, index, skewMs = () => 0 } = desk;
  const read = new Map<string, DisruptionPolicy>();
  let isCounted = true;
  for (const { name, namespace } of pods) {
    const question = index.limitsOn(namespace, name);
    for (const { limits, name: policy } of question?.policies ?? []) {
      if (limits === undefined || read.has(policy)) continue;
      const found = await existing(client.get(disruptionPolicyType, { namespace, name: policy }));
      if (found === undefined) {
        index.deletePolicy(namespace, policy);
        continue;
      }
      read.set(policy, found);
      index.setPolicy(readPolicy(found, index.policy(namespace, policy)));
    }
    const now = question?.now;
    if (now === undefined || (now.isWhole && now.takesDown)) continue;
    const facts = [...read.keys()].map((policy) => index.policy(namespace, policy));
    if (!facts.every((one) => one !== undefined && isUnderWay(one, now.group, clock.now()))) isCounted = false;
  }
  const [first] = pods;
  if (read.size > 0 && Math.abs(skewMs()) > MAX_SKEW_MS) return { response: clockSkewed(skewMs()) };
  if (read.size === 0 || isCounted || first === undefined) return read;
  return (await sawPodsOfNow(desk, first.namespace, signal)) ? read : { response: answer(processing('of this pod')) };
}

/** Who goes, and for whom. */
export interface LimitedRequest {
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly by: string;
  readonly dryRun: boolean;
  readonly isCordoned: (node: string) => boolean;
}

/** The answer where a limit refuses; otherwise how to take back what was entered. */
export type Limited = { readonly response: ReviewResponse } | { readonly undo: Undo };

const NOTHING: Limited = { undo: () => Promise.resolve() };

/**
 * Asks the limits of every policy over a pod's group and enters the disruption in their ledgers by compare-and-swap, before
 * it is granted: of any number of replicas only one can give the last. Members that went before and still look as if they
 * stayed are known from the ledger.
 */
export async function chargeLimits(desk: PolicyDesk, asked: LimitedRequest, signal: AbortSignal): Promise<Limited> {
  const { clock, index } = desk;
  const { by, dryRun, pod } = asked;
  const { name, namespace } = pod;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const facts = index.pod(namespace, name);
    if (facts === undefined || exemptionOf(facts) !== undefined) return NOTHING;
    const policies = await openPolicies(desk, [pod], signal);
    if ('response' in policies) return policies;
    if (policies.size === 0) return NOTHING;
    const now = clock.now();
    const gone = (group: string): number => {
      const uids = new Set([...policies.values()].flatMap(({ status }) => goingIn(status, group, now)));
      uids.delete(facts.uid);
      return [...index.pods(namespace)].filter((one) => uids.has(one.uid) && isUp(one)).length;
    };
    const verdict = judgeLimits(index, pod, now, gone);
    if (!verdict.allowed) {
      const judgement = { isCordoned: asked.isCordoned };
      return { response: tell(answerRefusal(index, verdict, { pod, now, judgement })) };
    }
    if (dryRun || !isUp(facts)) return NOTHING;
    const group = index.limitsOn(namespace, name)?.now.group ?? '';
    const charge = verdict.limits ?? { group, wholeSince: undefined, policies: [] };
    const undos: Undo[] = [];
    const writes = policyWrites(desk.client, policies, [{ pod: facts, charge, by, way: 'Eviction', now }]).map(
      ({ put }): Write => ({
        put: async () => {
          const undo = await put();
          undos.push(undo);
          return undo;
        },
      }),
    );
    try {
      await writeAllOrNone(writes);
      return {
        undo: async () => {
          for (const undo of undos) await undo().catch(() => {});
        },
      };
    } catch (error) {
      if (!isConflict(error)) throw error;
      await sleep(clock, RETRY_MS * (1 + attempt), signal);
    }
  }
  return { response: answer(processing('of this pod')) };
}

export interface LimitedDepartures {
  readonly pod: CountedPod;
  readonly charge: LimitCharge;
  readonly by: string;
  readonly way: 'Eviction' | 'GroupEviction';
  readonly now: number;
  /** The group is told first. */
  readonly reserve?: { readonly notice: string; readonly until: number } | undefined;
}

/** Enters departures in the ledgers of the policies that were read; each write holds only for what was read. */
export function policyWrites(
  client: Client,
  policies: OpenPolicies,
  departures: readonly LimitedDepartures[],
): Write[] {
  return [...policies].map(([name, policy]) => ({
    put: async () => {
      const status = departures.reduce(
        (to, { by, charge: { group, policies: counting, wholeSince }, now, pod, reserve, way }) =>
          chargedLedger(to, {
            group: { group, wholeSince },
            pod,
            by,
            way,
            now,
            begins: counting.includes(name),
            reserve,
          }),
        policy.status ?? {},
      );
      const after = await client.updateStatus(disruptionPolicyType, { ...policy, status });
      return () => client.updateStatus(disruptionPolicyType, { ...after, status: policy.status });
    },
  }));
}
