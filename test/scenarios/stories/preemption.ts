/** The story of a gang that takes the places of less important pods: of as many as it needs, or of none. */
import { expect, test } from 'vitest';
import { podGroup, workload } from './groups.ts';
import { apply, begin, type StoryHost, until } from './host.ts';
import { bound, groupSays, large, makeRoom, untilBound } from './room.ts';

const priorityClass = (name: string, value: number) => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
});

/** Of a group or of a pod. */
function important<T extends object>(object: T): T {
  const { spec, ...rest } = object as T & { spec: object };
  return { ...rest, spec: { ...spec, priorityClassName: 'story-high' } } as unknown as T;
}

export function tellPreemptionStories(on: () => StoryHost): void {
  test('P-01 a gang makes room for all of itself, or for none', async () => {
    const host = on();
    const { groups, kubectl } = host;
    await begin(
      host,
      'preempted',
      priorityClass('story-low', 1),
      priorityClass('story-high', 100),
      workload(groups, 'train', 2),
    );
    const alone = { schedulingGroup: undefined, priorityClassName: 'story-low' };
    const low = [0, 1, 2].map((at) => large(host, 'low', at, alone));
    await apply(host, 'preempted', ...low);
    await untilBound(host, 'preempted', 3, 'low');

    const gang = (name: string, size: number): object[] =>
      [podGroup(groups, name, 'train', size), ...Array.from({ length: size }, (_, at) => large(host, name, at))].map(
        important,
      );
    await apply(host, 'preempted', ...gang('vast', 4));
    await until('four to be found too many', async () => {
      return (await groupSays(host, 'preempted', 'vast')).includes('fit, at least 4 needed');
    });
    expect(await bound(host, 'preempted')).toEqual(['low-0', 'low-1', 'low-2']);

    await apply(host, 'preempted', ...gang('two', 2));
    await untilBound(host, 'preempted', 2, 'two');
    expect(await bound(host, 'preempted', 'low')).toHaveLength(1);
    expect(await bound(host, 'preempted', 'vast')).toEqual([]);
    await makeRoom(host, 'preempted');
    await kubectl.run(['delete', 'priorityclass', 'story-low', 'story-high']);
  });
}
