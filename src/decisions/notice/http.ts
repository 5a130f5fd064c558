import type { EvictionCause } from '../../api/quorate/notice.ts';
import { parseJsonObject } from './json.ts';

/** The body of a call that tells a group, or one of its members. */
export interface NoticeRequest {
  readonly apiVersion: 'notice.quorate.dev/v1';
  readonly id: string;
  readonly action: 'Notify' | 'Withdraw';
  readonly attempt: number;
  readonly group: { readonly namespace: string; readonly kind: string; readonly name: string };
  readonly leader?: string | undefined;
  /** Only where each member is called. */
  readonly member?: { readonly name: string; readonly uid: string } | undefined;
  readonly members: readonly { readonly name: string; readonly uid: string; readonly node: string }[];
  readonly reason: string;
  readonly cause?: EvictionCause | undefined;
  readonly startedAt: string;
  readonly deadline: string;
}

/** What a call was answered. */
export type NoticeResponse =
  /** By those with these names; `all`: by everybody that was asked about. */
  | { readonly state: 'Acknowledged'; readonly all: true }
  | { readonly state: 'Acknowledged'; readonly all: false; readonly names: readonly string[] }
  /** Told, and still at work. */
  | { readonly state: 'Working'; readonly message: string | undefined }
  | { readonly state: 'Malformed' };

const MAX_MESSAGE = 256;

/** Reads a 2xx. What is not understood is asked again: nobody acknowledges by mistake. */
export function readNoticeResponse(status: number, body: string): NoticeResponse {
  if (status === 204) return { state: 'Acknowledged', all: true };
  if (status === 202 && body.trim() === '') return { state: 'Working', message: undefined };
  const answer = parseJsonObject(body);
  if (answer === undefined) return status === 202 ? { state: 'Working', message: undefined } : { state: 'Malformed' };
  const { expectedAt, members, message, state } = answer;
  const named = Array.isArray(members) ? members.flatMap(acknowledging) : undefined;
  if (named !== undefined && status === 200) return { state: 'Acknowledged', all: false, names: named };
  if (status === 200 && state === 'Acknowledged') return { state, all: true };
  if (status !== 202 && state !== 'Working') return { state: 'Malformed' };
  const until = typeof expectedAt === 'string' ? `expected at ${expectedAt}` : '';
  const told = [typeof message === 'string' ? message : '', until].filter((part) => part !== '').join(', ');
  return { state: 'Working', message: told === '' ? undefined : told.slice(0, MAX_MESSAGE) };
}

function acknowledging(entry: unknown): string[] {
  const { name, state } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
  return typeof name === 'string' && state === 'Acknowledged' ? [name] : [];
}

/** How long until a call that failed for now is tried again. */
export function retryAfterMs(failures: number): number {
  return [1000, 2000, 4000][failures - 1] ?? 15_000;
}
