import type { Notice } from './types.ts';

export interface ReceivedCall {
  readonly action: 'Notify' | 'Withdraw';
  readonly notice: Notice;
}

const VERSION = 'notice.quorate.dev/v1';

/** Reads the body of a call; undefined for anything that is none. */
export function readCall(body: string): ReceivedCall | undefined {
  try {
    const call = JSON.parse(body) as Notice & { apiVersion?: unknown; action?: unknown };
    const { action, apiVersion, deadline, group, id, members } = call;
    if (apiVersion !== VERSION || (action !== 'Notify' && action !== 'Withdraw')) return undefined;
    if (typeof id !== 'string' || id === '' || typeof deadline !== 'string') return undefined;
    if (typeof group?.name !== 'string' || !Array.isArray(members)) return undefined;
    return { action, notice: call };
  } catch {
    return undefined;
  }
}
