import type { DownscalePodPicker } from '../../../api/generated/apps-v1.ts';
import type { PickerAnswer, PickerQuestion } from '../../../decisions/downscale/index.ts';

/** Why a consultation brought no answer. None of these ever says what the other side sent. */
export type PickerFailure =
  /** The time the picker was given is over. */
  | 'DeadlineExceeded'
  /** No connection, a broken one, or a certificate that does not hold. */
  | 'ConnectionFailed'
  /** Statuses that may pass: 408, 425, 429, 5xx. */
  | 'ServerError'
  /** Any other 4xx. */
  | 'Refused'
  | 'Redirected'
  | 'MalformedAnswer'
  | 'AnswerTooLarge'
  | 'SecretUnusable'
  | 'AddressForbidden';

/** The failure modes of the specification, as events print them. */
export const FAILURE_CODE: Readonly<Record<PickerFailure, string>> = {
  DeadlineExceeded: 'F1',
  ConnectionFailed: 'F2',
  ServerError: 'F3',
  Refused: 'F4',
  Redirected: 'F5',
  MalformedAnswer: 'F6',
  AnswerTooLarge: 'F7',
  SecretUnusable: 'F15',
  AddressForbidden: 'F17',
};

const WORTH_ANOTHER_TRY: ReadonlySet<PickerFailure> = new Set(['ConnectionFailed', 'ServerError', 'MalformedAnswer']);

export function isWorthAnotherTry(failure: PickerFailure): boolean {
  return WORTH_ANOTHER_TRY.has(failure);
}

/** A failed attempt. Carries no text of the other side. */
export class PickerError extends Error {
  override name = 'PickerError';
  readonly failure: PickerFailure;
  /** The HTTP status, where there was one. */
  readonly status: number | undefined;

  constructor(failure: PickerFailure, status?: number) {
    super(failure);
    this.failure = failure;
    this.status = status;
  }
}

export interface PickerCall {
  readonly namespace: string;
  readonly picker: DownscalePodPicker;
  readonly question: PickerQuestion;
}

/** One conversation with one picker; each attempt asks the same question again. */
export interface PickerConversation {
  /** Rejects with a `PickerError`, or with the signal's reason. */
  attempt(signal: AbortSignal): Promise<PickerAnswer>;
}

/** A way of asking. HTTP is the only one so far; another needs only this. */
export interface PickerProtocol {
  /** True when the picker is configured for this protocol. */
  speaks(picker: DownscalePodPicker): boolean;
  /** Prepares a conversation: reads secrets, resolves and checks addresses. Rejects with a `PickerError`. */
  open(call: PickerCall, signal: AbortSignal): Promise<PickerConversation>;
}
