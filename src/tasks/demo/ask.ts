/** Asking for a pod to go, and what the API answers. */
import { podType } from '../../api/resource-types.ts';
import type { ObjectKey } from '../../api/resource.ts';
import { ApiError, type Client, isNotFound } from '../../machinery/runtime/index.ts';
import { evictPod } from '../../machinery/runtime/evict-pod.ts';

export interface EvictionAnswer {
  readonly granted: boolean;
  readonly lines: readonly string[];
}

type Asked = ObjectKey & { readonly namespace: string };

export async function askEviction(client: Client, pod: Asked): Promise<EvictionAnswer> {
  const answer = await evictPod(client, pod);
  if (answer.kind === 'wait' || answer.kind === 'failed') return refused(pod.name, answer.text);
  return granted(pod.name, answer.kind === 'evicted' ? 'evicted' : 'gone');
}

export async function askDelete(client: Client, pod: Asked): Promise<EvictionAnswer> {
  try {
    await client.delete(podType, pod);
    return granted(pod.name, 'deleted');
  } catch (error) {
    if (isNotFound(error)) return granted(pod.name, 'gone');
    if (!(error instanceof ApiError)) throw error;
    return refused(pod.name, error.message);
  }
}

const granted = (name: string, how: string): EvictionAnswer => ({
  granted: true,
  lines: [`✓ ${how.padEnd(7)}  ${name}`],
});

const refused = (name: string, why: string): EvictionAnswer => ({
  granted: false,
  lines: [`✗ refused  ${name}`, `    ${why}`],
});
