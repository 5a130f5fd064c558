/** What a client is told when its request is refused, before it takes the shape of a Status. */
export interface Refused {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly RefusalCause[];
  readonly retryAfterSeconds?: number | undefined;
  /** The object that forbids it, where Kubernetes names one. */
  readonly about?: { readonly name: string; readonly group: string; readonly kind: string } | undefined;
}

export interface RefusalCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface RefusalStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: {
    name?: string;
    group?: string;
    kind?: string;
    causes: RefusalCause[];
    retryAfterSeconds?: number;
  };
}

/** The Status of a refusal, the same through every door. Kubernetes gives no details with a 500. */
export function refusalStatus({ about, causes, code, message, reason, retryAfterSeconds }: Refused): RefusalStatus {
  if (code === 500) return { code, reason, message };
  const details = { ...about, causes: [...causes], ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return { code, reason, message, details };
}
