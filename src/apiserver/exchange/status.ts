/**
 * Failures as clients see them. Clients branch on `reason`; people, kubectl and the conformance suite also read the
 * message, so the wording here is part of the contract.
 */
import { ApiError, type StatusBody } from '../../machinery/runtime/index.ts';
import { formatIssues, type Issue } from '../../machinery/values/index.ts';
import { LIMITS } from './limits.ts';

export { ApiError };

export type StatusDetails = NonNullable<StatusBody['details']>;
export type StatusCause = NonNullable<StatusDetails['causes']>[number];

/** A failure with every field a client may look at. Throw it anywhere on the request path. */
export function failure(
  code: number,
  reason: string,
  message: string,
  more: Partial<Pick<StatusBody, 'details' | 'metadata'>> = {},
): ApiError {
  // Answers to clients are made often and their origin in the code tells nobody anything: no stack is taken.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new ApiError(code, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: more.metadata ?? {},
    status: 'Failure',
    message,
    ...(reason !== '' && { reason }),
    ...(more.details && { details: more.details }),
    code,
  });
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

/** What errors need to know of a resource or kind. */
export interface ErrorSubject {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

const qualified = ({ group, plural }: ErrorSubject) => (group === '' ? plural : `${plural}.${group}`);

function details(subject: ErrorSubject, name: string | undefined, extra: Partial<StatusDetails> = {}): StatusDetails {
  return {
    ...(name && { name }),
    ...(subject.group !== '' && { group: subject.group }),
    kind: subject.plural,
    ...extra,
  };
}

export const badRequest = (message: string) => failure(400, 'BadRequest', message);
export const unauthorized = () => failure(401, 'Unauthorized', 'Unauthorized');

export function forbidden(subject: ErrorSubject, name: string | undefined, why: string, causes?: StatusCause[]) {
  const what = name ? `${qualified(subject)} "${name}"` : qualified(subject);
  return failure(403, 'Forbidden', `${what} is forbidden: ${why}`, {
    details: details(subject, name, causes ? { causes } : {}),
  });
}

export const notFound = (subject: ErrorSubject, name: string) =>
  failure(404, 'NotFound', `${qualified(subject)} "${name}" not found`, { details: details(subject, name) });

export const noSuchResource = () =>
  failure(404, 'NotFound', 'the server could not find the requested resource', { details: {} });

export const methodNotAllowed = (subject?: ErrorSubject, verb?: string) =>
  failure(
    405,
    'MethodNotAllowed',
    subject && verb
      ? `${verb} is not supported on resources of kind "${qualified(subject)}"`
      : 'the server does not allow this method on the requested resource',
    { details: subject ? details(subject, undefined) : {} },
  );

export const notAcceptable = (accepted: readonly string[]) =>
  failure(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

export const unsupportedMediaType = (given: string, accepted: readonly string[]) =>
  failure(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}${given === '' ? '' : ` (got ${given})`}`,
  );

export const alreadyExists = (subject: ErrorSubject, name: string, beingDeleted = false) =>
  failure(
    409,
    'AlreadyExists',
    `${beingDeleted ? 'object is being deleted: ' : ''}${qualified(subject)} "${name}" already exists`,
    { details: details(subject, name) },
  );

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = (subject: ErrorSubject, name: string, why = MODIFIED, extra: Partial<StatusDetails> = {}) =>
  failure(409, 'Conflict', `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`, {
    details: details(subject, name, extra),
  });

export const expired = (message = 'The resourceVersion for the provided list is too old.', continueToken?: string) =>
  failure(410, 'Expired', message, continueToken ? { metadata: { continue: continueToken } } : {});

export const tooLargeBody = (limit: number) =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);

/** What is larger than one request may be, by another measure than its bytes. */
export const tooLarge = (message: string) => failure(413, 'RequestEntityTooLarge', message);

export const tooManyRequests = (message: string, extra: Partial<StatusDetails> = {}) =>
  failure(429, 'TooManyRequests', message, { details: extra });

export const internalError = (message: string) =>
  failure(500, 'InternalError', `Internal error occurred: ${message}`, { details: { causes: [{ message }] } });

export const unavailable = (message: string) => failure(503, 'ServiceUnavailable', message);

export const timeout = (message: string, extra: Partial<StatusDetails> = {}) =>
  failure(504, 'Timeout', `Timeout: ${message}`, { details: extra });

export const tooLargeResourceVersion = (asked: number, current: number) =>
  timeout(`Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

/** 422 with one cause per issue, up to a bound; `kind` and not the plural names the subject here. */
export function invalid(subject: Pick<ErrorSubject, 'group' | 'kind'>, name: string, all: readonly Issue[]): ApiError {
  const what = subject.group === '' ? subject.kind : `${subject.kind}.${subject.group}`;
  const issues = all.slice(0, LIMITS.listedIssues);
  const more = all.length > issues.length ? ` and ${all.length - issues.length} more` : '';
  return failure(422, 'Invalid', `${what} "${name}" is invalid: ${formatIssues(issues)}${more}`, {
    details: {
      ...(name !== '' && { name }),
      ...(subject.group !== '' && { group: subject.group }),
      kind: subject.kind,
      causes: issues.map(({ rule, message, path }) => ({ reason: rule, message, field: path })),
    },
  });
}
