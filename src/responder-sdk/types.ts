/** Tells a group, or one of its members, that it has to go: the body of the call. */
export interface Notice {
  /** The same in every call about one notice. */
  readonly id: string;
  readonly group: { readonly namespace: string; readonly kind: string; readonly name: string };
  /** The pod that speaks for the group, where there is one. */
  readonly leader?: string | undefined;
  /** Where each member is called: which one this is. */
  readonly member?: { readonly name: string; readonly uid: string } | undefined;
  readonly members: readonly { readonly name: string; readonly uid: string; readonly node: string }[];
  /** For people. */
  readonly reason: string;
  readonly cause?: { readonly kind: string; readonly name: string } | undefined;
  readonly startedAt: string;
  /** The group goes then, whatever has been done by that time. */
  readonly deadline: string;
}

export interface Work {
  /** Aborts when the notice is withdrawn: the group stays. */
  readonly signal: AbortSignal;
  /** What whoever looks at the notice reads, such as `saving, 40 %`. */
  readonly progress: (message: string, expectedAt?: Date) => void;
}

/**
 * Does what has to be done before the group goes, and returns when that is done: only then is the notice acknowledged. It
 * is begun once for each notice, and again only after it has thrown.
 */
export type Prepare = (notice: Notice, work: Work) => void | Promise<void>;
