/** The `Status` object every failed request answers with. */
export interface StatusBody {
  kind?: string;
  apiVersion?: string;
  metadata?: { continue?: string; resourceVersion?: string };
  status?: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
    retryAfterSeconds?: number;
  };
  code?: number;
}

/** A request the API server answered with an error. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: StatusBody;
  readonly code: number;

  constructor(code: number, status: StatusBody, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? `the server answered with status ${code}`, options);
    this.code = code;
    this.status = status;
  }

  get reason(): string {
    return this.status.reason ?? '';
  }

  get causes(): readonly { reason?: string; message?: string; field?: string }[] {
    return this.status.details?.causes ?? [];
  }
}

const is =
  (code: number, reason: string) =>
  (error: unknown): error is ApiError =>
    error instanceof ApiError && error.code === code && (error.reason === reason || error.reason === '');

export const isNotFound = is(404, 'NotFound');
export const isAlreadyExists = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.reason === 'AlreadyExists';
export const isConflict = is(409, 'Conflict');
export const isUnauthorized = is(401, 'Unauthorized');
export const isForbidden = is(403, 'Forbidden');
export const isInvalid = is(422, 'Invalid');
export const isTooManyRequests = is(429, 'TooManyRequests');
/** 410: the resourceVersion or continue token is older than what the server keeps. */
export const isExpired = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');
/** A write refused because its namespace is going away. */
export const isNamespaceTerminating = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.code === 403 &&
  error.causes.some((cause) => cause.reason === 'NamespaceTerminating');
