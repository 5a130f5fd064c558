/** What a story needs of the host it is told on. Stories know nothing else, so they are the same on every host. */
import { isPodReady } from '../../../src/api/core/pod-state.ts';
import type { DownscalePodPicker } from '../../../src/api/generated/apps-v1.ts';
import type { PodDisruptionBudgetStatus } from '../../../src/api/generated/policy-v1.ts';
import type { SchedulingVersion } from '../../../src/api/scheduling/index.ts';
import { eventType, podType } from '../../../src/api/resource-types.ts';
import { ApiError, type Client } from '../../../src/machinery/runtime/index.ts';
import type { Kubectl } from '../../clients/kubectl.ts';

export interface StoryHost {
  /** An administrator's. */
  readonly kubeconfig: string;
  readonly client: Client;
  /** The real one. */
  readonly kubectl: Kubectl;
  /** Version in which Workload and PodGroup are served. */
  readonly groups: SchedulingVersion;
  /** Who places gangs. */
  readonly schedulerName: string;
  /** Lets a service choose the pods of a Deployment, in the host's own spelling. */
  givePicker(namespace: string, deployment: string, picker: DownscalePodPicker): Promise<void>;
  /** How many more units the budget lets go now, as its users read it; undefined before it is counted. */
  allowed(namespace: string, budget: string): Promise<number | undefined>;
  /** What is published of a budget whose pods name groups, where the host publishes it. */
  published(namespace: string, budget: string): Promise<PodDisruptionBudgetStatus>;
  stop(): Promise<void>;
}

/**
 * Waits for the world to be so; a failing look counts as no, and the last one is told. The limit only keeps a broken
 * run from hanging.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 120_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  let failure: unknown;
  const look = async (): Promise<boolean> => {
    failure = undefined;
    return holds();
  };
  const failed = (error: unknown): boolean => {
    failure = error;
    return false;
  };
  while (!(await look().catch(failed))) {
    if (Date.now() > deadline) throw new Error(`Waited ${limitMs / 1000} s in vain for: ${what}`, { cause: failure });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Applies objects in a namespace of their own, and waits until their pods serve. */
export async function begin(host: StoryHost, namespace: string, ...objects: object[]): Promise<void> {
  await host.kubectl.run(['create', 'namespace', namespace]);
  await until('the service account', async () => {
    await host.kubectl.run(['get', 'serviceaccount', 'default', '-n', namespace]);
    return true;
  });
  await apply(host, namespace, ...objects);
  await until('the pods to serve', async () => {
    const { items } = await host.client.list(podType, { namespace });
    return items.every(isPodReady);
  });
}

export async function apply({ kubectl }: StoryHost, namespace: string, ...objects: object[]): Promise<void> {
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  await kubectl.run(['apply', '-n', namespace, '-f', '-'], { stdin });
}

/** Removes what a story leaves behind; its pods may go on stopping while the next one begins. */
export async function end({ kubectl }: StoryHost, namespace: string): Promise<void> {
  await kubectl.run(['delete', 'namespace', namespace, '--wait=false']);
}

export async function untilAllowed(host: StoryHost, namespace: string, wanted: number, name = 'train'): Promise<void> {
  await until(`${name} to allow ${wanted}`, async () => (await host.allowed(namespace, name)) === wanted);
}

export interface Answer {
  readonly code: number;
  readonly message: string;
  readonly causes: readonly { readonly reason?: string | undefined; readonly message?: string | undefined }[];
}

export async function evict(
  { client }: StoryHost,
  namespace: string,
  name: string,
  deleteOptions: object = {},
): Promise<Answer> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
  try {
    await client.createSubresource(podType, { namespace, name }, 'eviction', body);
    return { code: 201, message: '', causes: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, message: error.message, causes: error.status.details?.causes ?? [] };
  }
}

/** What an eviction would be told now; nothing happens. */
export const askEviction = (host: StoryHost, namespace: string, name: string): Promise<Answer> =>
  evict(host, namespace, name, { dryRun: ['All'] });

/** Evicts one after the other. */
export async function codesOf(host: StoryHost, namespace: string, ...names: string[]): Promise<number[]> {
  const found: number[] = [];
  for (const name of names) found.push((await evict(host, namespace, name)).code);
  return found;
}

export async function untilEvent(host: StoryHost, namespace: string, reason: string, object: string): Promise<void> {
  await until(`the event ${reason} on ${object}`, async () => {
    const { items } = await host.client.list(eventType, { namespace });
    return items.some((event) => event.reason === reason && event.involvedObject.name === object);
  });
}

/** Pods that are there and not on their way out. */
export async function podsOf({ client }: StoryHost, namespace: string): Promise<string[]> {
  const { items } = await client.list(podType, { namespace });
  return items
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
}

export const pod = (name: string, labels: Record<string, string>, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main' }], ...spec },
});
