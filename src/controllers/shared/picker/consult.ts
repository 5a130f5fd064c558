import type { PickerAnswer } from '../../../decisions/downscale/index.ts';
import { type Clock, type Metrics, sleep } from '../../../machinery/runtime/index.ts';
import {
  isWorthAnotherTry,
  type PickerCall,
  type PickerConversation,
  PickerError,
  type PickerFailure,
  type PickerProtocol,
} from './protocol.ts';

export type Consultation =
  | { readonly ok: true; readonly answer: PickerAnswer; readonly attempts: number }
  | {
      readonly ok: false;
      readonly reason: PickerFailure;
      readonly status: number | undefined;
      readonly attempts: number;
    };

export interface ConsultOptions {
  readonly protocols: readonly PickerProtocol[];
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Aborts when the controller stops; a consultation then throws, so that its pass deletes nothing. */
  readonly shutdown: AbortSignal;
}

const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_SECONDS = 1;
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1000;

class DeadlineReached extends Error {}

/**
 * Asks a picker within its time. Attempts share one deadline, which begins now; an answer that comes later is dropped.
 * Every failure but the shutdown is a value: a downscale never fails because of its picker.
 */
export async function consultPicker(call: PickerCall, options: ConsultOptions): Promise<Consultation> {
  const { clock, metrics, shutdown } = options;
  const startedAt = clock.now();
  const stop = new AbortController();
  const cancelDeadline = clock.after((call.picker.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000, () =>
    stop.abort(new DeadlineReached()),
  );
  const onShutdown = (): void => stop.abort(shutdown.reason);
  if (shutdown.aborted) onShutdown();
  shutdown.addEventListener('abort', onShutdown, { once: true });
  try {
    const outcome = await tryAll(call, options, stop.signal);
    const result = outcome.ok ? 'Answered' : outcome.reason;
    metrics.counter('quorate_downscale_picker_calls_total').inc({ result });
    metrics.histogram('quorate_downscale_picker_duration_seconds').observe((clock.now() - startedAt) / 1000);
    return outcome;
  } finally {
    cancelDeadline();
    shutdown.removeEventListener('abort', onShutdown);
    stop.abort(new DeadlineReached());
  }
}

async function tryAll(call: PickerCall, options: ConsultOptions, signal: AbortSignal): Promise<Consultation> {
  const { clock, protocols, shutdown } = options;
  const allowed = 1 + (call.picker.maxRetries ?? DEFAULT_RETRIES);
  const protocol = protocols.find((candidate) => candidate.speaks(call.picker));
  if (protocol === undefined) return { ok: false, reason: 'ConnectionFailed', status: undefined, attempts: 0 };
  let conversation: PickerConversation | undefined;
  let attempts = 0;
  for (;;) {
    try {
      conversation ??= await unlessAborted(protocol.open(call, signal), signal);
      attempts += 1;
      const answer = await unlessAborted(conversation.attempt(signal), signal);
      return { ok: true, answer, attempts };
    } catch (error) {
      if (shutdown.aborted) throw shutdown.reason;
      // A name that does not resolve is an attempt too.
      if (conversation === undefined && error instanceof PickerError && isWorthAnotherTry(error.failure)) attempts += 1;
      const failed = describe(error, signal);
      if (!isWorthAnotherTry(failed.reason) || attempts >= allowed) return { ok: false, ...failed, attempts };
    }
    try {
      await sleep(clock, Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS), signal);
    } catch {
      if (shutdown.aborted) throw shutdown.reason;
      return { ok: false, reason: 'DeadlineExceeded', status: undefined, attempts };
    }
  }
}

function describe(error: unknown, signal: AbortSignal): { reason: PickerFailure; status: number | undefined } {
  if (signal.aborted) return { reason: 'DeadlineExceeded', status: undefined };
  if (error instanceof PickerError) return { reason: error.failure, status: error.status };
  return { reason: 'ConnectionFailed', status: undefined };
}

/** Some steps (name lookups) cannot be cancelled; the wait for them can. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
