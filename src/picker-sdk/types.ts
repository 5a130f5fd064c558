/** One question of a ReplicaSet that has to shrink. */
export interface PickRequest {
  /** Names of Ready pods of one ReplicaSet, in ascending order. */
  readonly candidates: readonly string[];
  /** How many of them have to go; at least 1 and fewer than there are candidates. */
  readonly count: number;
  /** Path and query the controller was configured with; tells namespaces apart if they are put there. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Chosen pods go first, tied ones next; others only if that is not enough. Fewer or more names than asked for are fine.
 * Two empty lists mean "no opinion": the usual order applies.
 */
export interface PickAnswer {
  readonly chosen?: readonly string[];
  readonly tied?: readonly string[];
}

/**
 * Must be idempotent: the same question may come several times (retries, a controller that starts anew), nothing says
 * that the answer was followed, and a late answer is dropped. Only look; change nothing here.
 */
export type Pick = (request: PickRequest) => PickAnswer | Promise<PickAnswer>;
