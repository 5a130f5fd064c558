import type { Pod } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/resource.ts';
import { podType } from '../../api/resource-types.ts';
import { countGroups, type GroupState } from './read.ts';
import type { StoryHost } from './story.ts';

export interface Lookout {
  /** The fewest groups that were whole at any moment since the watch began. */
  fewestWhole(): number;
  /** Times a group went from whole to not, over all groups. */
  timesDown(): number;
  /** Groups that went down more than once. */
  downAgain(): number;
}

export interface LookoutOptions {
  readonly namespace: string;
  /** Pods each group needs. */
  readonly groups: Readonly<Record<string, number>>;
  readonly groupOf: (pod: Pod) => string | undefined;
}

/** Watches groups from here on, so that a story can say what was true all the time and not only when it looked. */
export async function postLookout({ client, onEnd, signal }: StoryHost, options: LookoutOptions): Promise<Lookout> {
  const { groupOf, groups, namespace } = options;
  const { items, metadata } = await client.list(podType, { namespace });
  const pods = new Map(items.map((pod) => [keyOf(pod), pod]));
  const downs = new Map<string, number>();
  let last: readonly GroupState[] = countGroups(items, groups, groupOf);
  const countWhole = (): number => last.filter(({ whole }) => whole).length;
  let fewest = countWhole();

  const note = (): void => {
    const now = countGroups([...pods.values()], groups, groupOf);
    for (const [at, { name, whole }] of now.entries()) {
      if (last[at]?.whole === true && !whole) downs.set(name, (downs.get(name) ?? 0) + 1);
    }
    last = now;
    fewest = Math.min(fewest, countWhole());
  };
  const abort = new AbortController();
  signal.addEventListener('abort', () => abort.abort(), { once: true });
  onEnd(() => abort.abort());
  const watch = async (): Promise<void> => {
    const { resourceVersion } = metadata;
    for await (const { type, object } of client.watch(podType, { namespace, resourceVersion, signal: abort.signal })) {
      if (type === 'DELETED') pods.delete(keyOf(object));
      else if (type !== 'BOOKMARK') pods.set(keyOf(object), object);
      note();
    }
  };
  // It ends with the story; a watch cut short by that is no failure.
  watch().catch(() => undefined);
  return {
    fewestWhole: () => fewest,
    timesDown: () => [...downs.values()].reduce((sum, times) => sum + times, 0),
    downAgain: () => [...downs.values()].filter((times) => times > 1).length,
  };
}
