/**
 * Failures that nobody caught. They are the process's own, so the count and what was under way are kept for the whole
 * process, however many planes live in it.
 */

export type ProcessFailure = 'uncaughtException' | 'unhandledRejection';

/** A request as it is told of in a log. */
export interface RequestLine {
  readonly method: string;
  readonly url: string;
}

const counts: Record<ProcessFailure, number> = { uncaughtException: 0, unhandledRejection: 0 };
const underWay = new Set<RequestLine>();

/** Remembered until it is left, so that a failure can be told together with the requests it may have come from. */
export const enterRequest = (request: RequestLine): void => void underWay.add(request);
export const leaveRequest = (request: RequestLine): void => void underWay.delete(request);

const MAX_TOLD = 10;

/** The requests under way, the latest first, without their queries: those may hold what is nobody's business. */
export function requestsUnderWay(): readonly string[] {
  const lines = [...underWay].reverse().slice(0, MAX_TOLD);
  return lines.map(({ method, url }) => `${method} ${url.split('?', 1)[0] ?? ''}`);
}

export const countProcessFailure = (kind: ProcessFailure): void => {
  counts[kind] += 1;
};

export const processFailures = (): Readonly<Record<ProcessFailure, number>> => counts;
