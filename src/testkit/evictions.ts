import { AssertionError } from 'node:assert';
import { type KubeObject, type ObjectKey, parseKey } from '../api/resource.ts';
import { podType } from '../api/resource-types.ts';
import { ApiError, type Clock } from '../machinery/runtime/index.ts';
import { formatTime } from '../machinery/values/index.ts';
import type { HasClient } from './apply.ts';

/** `name` in namespace `default`, `namespace/name`, or the pod itself. */
export type PodName = string | KubeObject;

const keyOfPod = (pod: PodName): ObjectKey => {
  const { name, namespace } = typeof pod === 'string' ? parseKey(pod) : { name: '', ...pod.metadata };
  return { name: name ?? '', namespace: namespace ?? 'default' };
};

/** Asks for an eviction; undefined when it was granted, else the server's refusal. */
async function evict(plane: HasClient, pod: PodName): Promise<ApiError | undefined> {
  const { name, namespace } = keyOfPod(pod);
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await plane.client.createSubresource(podType, { name, namespace }, 'eviction', body);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code !== 404) return error;
    throw error;
  }
}

/** The message, and causes that it does not repeat. */
function sayAll({ causes, message }: ApiError): string {
  const more = causes.flatMap((cause) => (cause.message && !message.includes(cause.message) ? [cause.message] : []));
  return [message, ...more].join('\n');
}

/** Evicts a pod through the eviction API. Fails, with the server's reason, when that refuses. */
export async function expectEvicted(plane: HasClient, pod: PodName): Promise<void> {
  const refusal = await evict(plane, pod);
  if (refusal === undefined) return;
  throw new AssertionError({
    message: `Expected the eviction of pod ${keyOfPod(pod).name} to be granted; it was refused: ${sayAll(refusal)}`,
    actual: `refused (${refusal.code})`,
    expected: 'granted',
    operator: 'expectEvicted',
    stackStartFn: expectEvicted,
  });
}

/**
 * Asks for an eviction that must be refused, and returns the refusal. `because` must be found in its message or in one of its
 * causes: a text, or a pattern.
 */
export async function expectRefused(plane: HasClient, pod: PodName, because?: string | RegExp): Promise<ApiError> {
  const refusal = await evict(plane, pod);
  const fail = (message: string, actual: string): AssertionError =>
    new AssertionError({
      message,
      actual,
      expected: because === undefined ? 'refused' : `refused because ${String(because)}`,
      operator: 'expectRefused',
      stackStartFn: expectRefused,
    });
  const { name } = keyOfPod(pod);
  if (refusal === undefined)
    throw fail(`Expected the eviction of pod ${name} to be refused; it was granted`, 'granted');
  const texts = [refusal.message, ...refusal.causes.map(({ message = '' }) => message)];
  const isSaid = (text: string): boolean =>
    typeof because === 'string' ? text.includes(because) : (because?.test(text) ?? true);
  if (!texts.some(isSaid))
    throw fail(
      `Expected the eviction of pod ${name} to be refused because ${String(because)}; it was refused: ${sayAll(refusal)}`,
      refusal.message,
    );
  return refusal;
}

/** Sets a pod Running and Ready, or not Ready, as its kubelet would: for planes without simulated nodes. */
export async function setReady(
  plane: HasClient & { readonly clock: Clock },
  pod: PodName,
  ready = true,
): Promise<void> {
  const found = await plane.client.get(podType, keyOfPod(pod));
  const lastTransitionTime = formatTime(plane.clock.now());
  const others = (found.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
  const conditions = [...others, { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
  await plane.client.updateStatus(podType, { ...found, status: { ...found.status, phase: 'Running', conditions } });
}
