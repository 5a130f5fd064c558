/** The stories of gang scheduling: all of a group, or none of it. */
import { expect, test } from 'vitest';
import { podType } from '../../../src/api/resource-types.ts';
import { member, podGroup, workload } from './groups.ts';
import { apply, begin, end, podsOf, type StoryHost, until } from './host.ts';

export function tellGangStories(on: () => StoryHost): void {
  const bound = async (namespace: string, prefix: string): Promise<number> => {
    const { items } = await on().client.list(podType, { namespace });
    return items.filter(({ metadata, spec }) => metadata.name?.startsWith(prefix) && spec?.nodeName).length;
  };
  /** One of these fills most of a node. */
  const large = (group: string, at: number): object =>
    member(group, at, {
      schedulerName: on().schedulerName,
      containers: [{ name: 'main', image: 'main', resources: { requests: { cpu: '10' } } }],
    });

  test('of two gangs with room for one, one is placed whole and the other not at all until there is room', async () => {
    const host = on();
    const { groups, kubectl } = host;
    await begin(
      host,
      'gangs',
      workload(groups, 'train', 3),
      ...['a', 'b'].map((name) => podGroup(groups, name, 'train', 3)),
    );
    // Members that come one by one wait for each other.
    await apply(host, 'gangs', large('a', 0), large('a', 1));
    await apply(host, 'gangs', large('b', 0), large('b', 1), large('b', 2));
    await until('b to be placed', async () => (await bound('gangs', 'b')) === 3);
    await apply(host, 'gangs', large('a', 2));
    await until('a to be found too large', async () => {
      const said = await kubectl.out(
        'get',
        'podgroup',
        'a',
        '-n',
        'gangs',
        '-o',
        'jsonpath={.status.conditions[*].reason}',
      );
      return said.includes('Unschedulable');
    });
    expect(await bound('gangs', 'a')).toBe(0);
    await kubectl.run(['delete', 'pod', 'b-0', 'b-1', 'b-2', '-n', 'gangs', '--force', '--grace-period=0']);
    await until('a to be placed', async () => (await bound('gangs', 'a')) === 3);
    expect(await podsOf(host, 'gangs')).toEqual(['a-0', 'a-1', 'a-2']);
    await kubectl.run(['delete', 'pod', '--all', '-n', 'gangs', '--force', '--grace-period=0']);
    await end(host, 'gangs');
  });
}
