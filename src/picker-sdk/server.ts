import {
  type CallAnswer,
  type CallerSecret,
  type CallServer,
  type ListeningServer,
  serveCalls,
} from '../sdk-server/index.ts';
import type { Pick, PickRequest } from './types.ts';

export interface PodPickerOptions {
  /** What callers must send. Without it anyone may ask. */
  readonly auth?: CallerSecret | undefined;
  /** Largest request read, in bytes. Default 4 MiB. */
  readonly maxRequestBytes?: number | undefined;
  /** Told about failures of `pick`; the caller only sees a status of 500. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export type PodPicker = CallServer;
export type ListeningPicker = ListeningServer;

/** Serves a function as a pod picker. */
export function createPodPicker(pick: Pick, options: PodPickerOptions = {}): PodPicker {
  const { auth, maxRequestBytes = 4 * 1024 * 1024, onError } = options;
  return serveCalls({
    auth,
    maxRequestBytes,
    answer: async (body, { headers, url = '/' }): Promise<CallAnswer> => {
      const question = parseQuestion(body);
      if (question === undefined) return { status: 400, body: { error: 'the request is not a question about pods' } };
      try {
        const { chosen = [], tied = [] } = await pick({ ...question, url, headers });
        return { status: 200, body: { chosen_pods: chosen, tied_pods: tied } };
      } catch (error) {
        onError?.(error);
        return { status: 500, body: { error: 'the picker failed' } };
      }
    },
  });
}

function parseQuestion(body: string): Omit<PickRequest, 'url' | 'headers'> | undefined {
  try {
    const { candidate_pods: candidates, number_of_pods_requested: count } = JSON.parse(body) as Record<string, unknown>;
    if (!Array.isArray(candidates) || !candidates.every((name) => typeof name === 'string')) return undefined;
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 0) return undefined;
    return { candidates, count };
  } catch {
    return undefined;
  }
}
