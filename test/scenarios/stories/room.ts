/** Pods that fill most of a node each, and who has found a place. */
import { podCondition } from '../../../src/api/core/pod-state.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { member } from './groups.ts';
import { end, type StoryHost, until } from './host.ts';

/** One of these, and no more, finds room on a node. */
export const large = ({ schedulerName }: StoryHost, group: string, at: number, more: object = {}): object =>
  member(group, at, {
    schedulerName,
    containers: [{ name: 'main', image: 'main', resources: { requests: { cpu: '10' } } }],
    ...more,
  });

/** Names of the pods that have a node and stay. */
export async function bound({ client }: StoryHost, namespace: string, prefix = ''): Promise<string[]> {
  const { items } = await client.list(podType, { namespace });
  return items
    .filter(({ metadata, spec }) => metadata.name?.startsWith(prefix) && spec?.nodeName && !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
}

export async function untilBound(host: StoryHost, namespace: string, count: number, prefix = ''): Promise<void> {
  await until(`${count} pods ${prefix} to be placed`, async () => {
    return (await bound(host, namespace, prefix)).length === count;
  });
}

/** Waits until a pod without a place has been told why. */
export async function untilTold(host: StoryHost, namespace: string, name: string, why: RegExp): Promise<void> {
  await until(`${name} to be told ${why.source}`, async () => {
    const pod = await host.client.get(podType, { namespace, name });
    const scheduled = podCondition(pod, 'PodScheduled');
    return scheduled?.status === 'False' && why.test(scheduled.message ?? '');
  });
}

/** What the conditions of a PodGroup say, such as `False=Unschedulable: why`. */
export const groupSays = ({ kubectl }: StoryHost, namespace: string, name: string): Promise<string> => {
  const path = 'jsonpath={range .status.conditions[*]}{.status}={.reason}: {.message} {end}';
  return kubectl.out('get', 'podgroup', name, '-n', namespace, '-o', path);
};

/** Removes pods at once, as if their nodes had lost them. */
export async function lose({ kubectl }: StoryHost, namespace: string, ...names: string[]): Promise<void> {
  await kubectl.run(['delete', 'pod', ...names, '-n', namespace, '--force', '--grace-period=0']);
}

/** Ends a story whose pods the next one would miss the room of. */
export async function makeRoom(host: StoryHost, namespace: string): Promise<void> {
  await lose(host, namespace, '--all');
  await end(host, namespace);
}
