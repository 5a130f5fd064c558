import type { Lease } from '../../api/generated/coordination-v1.ts';
import { leaseType } from '../../api/resource-types.ts';
import { formatMicroTime, parseTime } from '../values/index.ts';
import { isAlreadyExists, isConflict, isNotFound } from './api-error.ts';
import type { Client } from './client.ts';
import { type Clock, sleep } from './clock.ts';
import type { Logger } from './log.ts';

/** How long a request of an election may take: two of them and a pause must fit into the time to renew. */
export const ELECTION_DEADLINE_MS = 3000;

/** How long a leader that falls silent keeps the lease. */
const LEASE_MS = 15_000;
/** How often a leader renews and others look. */
const RETRY_MS = 2000;
/** A leader without a renewal for so long, counted from when it asked for the last good one, leads no more. */
const RENEW_MS = 10_000;

export interface LeaderElectionOptions {
  /** With a deadline for its requests that leaves time to try again; see `ELECTION_DEADLINE_MS`. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Names this candidate; must differ from every other's. */
  readonly identity: string;
  readonly signal: AbortSignal;
  /** What the leader says about itself on the Lease. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** A leader that could not renew in time: whatever it does now, another may be doing too. */
  readonly lost: () => void;
  /** Called when the lease was renewed, by this candidate or by whoever holds it. */
  readonly renewed?: (() => void) | undefined;
  /** Called after a stop, when the lease has been given back or could not be. */
  readonly ended?: (() => void) | undefined;
}

interface Observed {
  readonly resourceVersion: string;
  /** Of the time elapsed here: every clock may be wrong, and set. */
  readonly atMs: number;
}

/**
 * Stands for election on a Lease; resolves when elected. A lease counts as expired only after it has been seen
 * unchanged for its whole duration, counted here, so clocks that are wrong or set elect nobody twice. On stop the lease
 * is given back, so that a successor need not wait.
 */
export function electLeader(options: LeaderElectionOptions): Promise<void> {
  const { clock, log, lost, signal } = options;
  return new Promise((elected) => {
    const campaign = async (): Promise<void> => {
      let observed: Observed | undefined;
      let leading = false;
      let over = false;
      let cancel = (): void => {};
      const stepDown = (why: string): void => {
        if (over || signal.aborted) return;
        over = true;
        cancel();
        log.error({ lease: options.name, identity: options.identity }, why);
        lost();
      };
      while (!signal.aborted && !over) {
        const askedMs = clock.elapsed();
        try {
          const outcome = await tryHold(options, observed);
          if (over) return;
          if (outcome.held || outcome.observed !== observed) options.renewed?.();
          observed = outcome.observed;
          if (outcome.held) {
            // By a timer of its own: the next request may never come back.
            cancel();
            cancel = clock.after(Math.max(0, askedMs + RENEW_MS - clock.elapsed()), () =>
              stepDown(`could not renew the leader lease for ${RENEW_MS / 1000} s`),
            );
            if (!leading) {
              leading = true;
              log.info({ lease: options.name, identity: options.identity }, 'elected leader');
              elected();
            }
          } else if (leading) {
            stepDown('another replica holds the leader lease');
            return;
          }
        } catch (error) {
          log.warn({ lease: options.name, error: String(error) }, 'cannot reach the leader lease');
        }
        if (over) return;
        await sleep(clock, RETRY_MS, signal).catch(() => {});
      }
      cancel();
      if (leading && !over) await release(options).catch(() => {});
      options.ended?.();
    };
    void campaign();
  });
}

async function tryHold(
  { annotations = {}, client, clock, identity, name, namespace }: LeaderElectionOptions,
  observed: Observed | undefined,
): Promise<{ held: boolean; observed: Observed | undefined }> {
  const now = formatMicroTime(clock.now());
  const mine = { holderIdentity: identity, leaseDurationSeconds: Math.ceil(LEASE_MS / 1000), renewTime: now };
  let lease: Lease;
  try {
    lease = await client.get(leaseType, { namespace, name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const created = client.create(leaseType, {
      metadata: { name, namespace, annotations: { ...annotations } },
      spec: { ...mine, acquireTime: now, leaseTransitions: 0 },
    });
    return created.then(
      () => ({ held: true, observed: undefined }),
      (failed: unknown) => {
        if (isAlreadyExists(failed)) return { held: false, observed: undefined };
        throw failed;
      },
    );
  }
  const holder = lease.spec?.holderIdentity ?? '';
  const resourceVersion = lease.metadata.resourceVersion ?? '';
  if (holder !== identity && holder !== '') {
    const seen = observed?.resourceVersion === resourceVersion ? observed : { resourceVersion, atMs: clock.elapsed() };
    const durationMs = (lease.spec?.leaseDurationSeconds ?? 15) * 1000;
    if (clock.elapsed() - seen.atMs < durationMs) return { held: false, observed: seen };
  }
  const taken = holder !== identity;
  const spec = {
    ...lease.spec,
    ...mine,
    acquireTime: taken || parseTime(lease.spec?.acquireTime) === undefined ? now : lease.spec?.acquireTime,
    leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + (taken ? 1 : 0),
  };
  try {
    const metadata = { ...lease.metadata, annotations: { ...lease.metadata.annotations, ...annotations } };
    await client.update(leaseType, { ...lease, metadata, spec });
    return { held: true, observed: undefined };
  } catch (error) {
    if (isConflict(error)) return { held: false, observed: undefined };
    throw error;
  }
}

async function release({ client, identity, name, namespace }: LeaderElectionOptions): Promise<void> {
  const lease = await client.get(leaseType, { namespace, name });
  if (lease.spec?.holderIdentity !== identity) return;
  await client.update(leaseType, { ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 } });
}
