import {
  type CallAnswer,
  type CallerSecret,
  type CallServer,
  type ListeningServer,
  serveCalls,
} from '../sdk-server/index.ts';
import { readCall } from './read-notice.ts';
import type { Notice, Prepare } from './types.ts';

export interface ResponderOptions {
  /** What callers must send. Without it anyone may tell. */
  readonly auth?: CallerSecret | undefined;
  /** Told about failures of `prepare`; the caller only sees a status of 500, and calls again. */
  readonly onError?: ((error: unknown, notice: Notice) => void) | undefined;
}

export type Responder = CallServer;
export type ListeningResponder = ListeningServer;

/** How far the work for one notice is. */
interface Job {
  readonly stop: AbortController;
  state: 'Working' | 'Done' | 'Failed';
  message: string | undefined;
  expectedAt: Date | undefined;
}

const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
/** Notices that are remembered, the oldest are forgotten. */
const MAX_JOBS = 1000;

/**
 * Serves a function that prepares a group for its end. The call that begins it is answered at once; it is asked again
 * until the work is done, and the same notice never begins it twice.
 */
export function createResponder(prepare: Prepare, options: ResponderOptions = {}): Responder {
  const serving = { prepare, options, jobs: new Map<string, Job>() };
  return serveCalls({
    auth: options.auth,
    maxRequestBytes: MAX_REQUEST_BYTES,
    answer: (body) => answer(serving, body),
  });
}

interface Serving {
  readonly prepare: Prepare;
  readonly options: ResponderOptions;
  readonly jobs: Map<string, Job>;
}

async function answer(serving: Serving, body: string): Promise<CallAnswer> {
  const { jobs } = serving;
  const call = readCall(body);
  if (call === undefined) return { status: 400, body: { error: 'the request is no notice' } };
  const key = `${call.notice.id}/${call.notice.member?.uid ?? ''}`;
  if (call.action === 'Withdraw') {
    jobs.get(key)?.stop.abort();
    jobs.delete(key);
    return { status: 200, body: { state: 'Withdrawn' } };
  }
  const known = jobs.get(key);
  const job = known === undefined || known.state === 'Failed' ? begin(serving, key, call.notice) : known;
  // A failure is told once; the next call begins anew.
  if (known?.state === 'Failed') return { status: 500, body: { error: 'the preparation failed, it is begun again' } };
  await turn();
  if (job.state === 'Done') return { status: 200, body: { state: 'Acknowledged' } };
  const { expectedAt, message } = job;
  const when = expectedAt === undefined ? {} : { expectedAt: expectedAt.toISOString() };
  return { status: 200, body: { state: 'Working', ...(message !== undefined && { message }), ...when } };
}

/** Lets work that is done at once be done. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function begin({ jobs, options, prepare }: Serving, key: string, notice: Notice): Job {
  const job: Job = { stop: new AbortController(), state: 'Working', message: undefined, expectedAt: undefined };
  jobs.set(key, job);
  for (const oldest of jobs.keys()) {
    if (jobs.size <= MAX_JOBS) break;
    jobs.delete(oldest);
  }
  const progress = (message: string, expectedAt?: Date): void => {
    job.message = message;
    job.expectedAt = expectedAt;
  };
  const work = async (): Promise<void> => prepare(notice, { signal: job.stop.signal, progress });
  work().then(
    () => {
      job.state = 'Done';
    },
    (error: unknown) => {
      job.state = 'Failed';
      if (!job.stop.signal.aborted) options.onError?.(error, notice);
    },
  );
  return job;
}
