import type { Pod } from '../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import {
  DisruptionIndex,
  readBudget,
  readGroupSource,
  readPod,
  readPodGroup,
  readWorkload,
} from '../../decisions/disruption/index.ts';
import type { Entry, Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import type { PendingWrite } from '../stored/pending-writes.ts';

/** What the index is told of one kind. */
interface Feed {
  readonly prefix: string;
  set(object: KubeObject): void;
  delete(namespace: string, name: string): void;
}

/** An index of the server's own state, including what is still on its way to disk. */
export function createDisruptionView(kernel: Kernel): DisruptionIndex {
  const index = new DisruptionIndex();
  const feeds = feedsOf(kernel, index);
  const read = (entry: Entry): KubeObject => kernel.objects.readLean(entry) as KubeObject;
  const fill = (transaction: Transaction): void => {
    index.clear();
    for (const feed of feeds) for (const entry of transaction.range(feed.prefix)) feed.set(read(entry));
  };
  const apply = ({ key, entry }: PendingWrite): void => {
    const feed = feeds.find(({ prefix }) => key.startsWith(prefix));
    if (feed === undefined) return;
    if (entry !== undefined) feed.set(read(entry));
    else {
      const slash = key.indexOf('/', feed.prefix.length);
      feed.delete(key.slice(feed.prefix.length, slash), key.slice(slash + 1));
    }
  };
  const load = (): void => {
    kernel.store.transact(fill).catch((error: unknown) => {
      kernel.log.error({ err: error }, 'cannot read the state that evictions are decided on');
    });
  };
  load();
  kernel.writes.listen({ wrote: (writes) => writes.forEach(apply), lost: load });
  return index;
}

/** Budgets before pods: a pod then finds its budgets by its labels instead of each budget looking at every pod. */
function feedsOf({ registry }: Kernel, index: DisruptionIndex): Feed[] {
  const prefixOf = (group: string, plural: string): string | undefined => registry.byPlural(group, plural)?.prefix;
  const feeds: { prefix: string | undefined; feed: Omit<Feed, 'prefix'> }[] = [
    {
      prefix: prefixOf('policy', 'poddisruptionbudgets'),
      feed: {
        set(object) {
          const { name = '', namespace = '' } = object.metadata;
          index.setBudget(readBudget(object as PodDisruptionBudget, index.budget(namespace, name)));
        },
        delete: (namespace, name) => index.deleteBudget(namespace, name),
      },
    },
    {
      prefix: prefixOf('scheduling.k8s.io', 'workloads'),
      feed: {
        set: (object) =>
          index.setWorkload(object.metadata.namespace ?? '', object.metadata.name ?? '', readWorkload(object)),
        delete: (namespace, name) => index.setWorkload(namespace, name, undefined),
      },
    },
    {
      prefix: prefixOf('scheduling.k8s.io', 'podgroups'),
      feed: {
        set: (object) =>
          index.setPodGroup(object.metadata.namespace ?? '', object.metadata.name ?? '', readPodGroup(object)),
        delete: (namespace, name) => index.setPodGroup(namespace, name, undefined),
      },
    },
    { prefix: prefixOf('apps', 'statefulsets'), feed: sourceFeed(index) },
    { prefix: prefixOf('batch', 'jobs'), feed: sourceFeed(index) },
    {
      prefix: prefixOf('', 'pods'),
      feed: {
        set: (object) => index.setPod(readPod(object as Pod)),
        delete: (namespace, name) => index.deletePod(namespace, name),
      },
    },
  ];
  return feeds.flatMap(({ feed, prefix }) => (prefix === undefined ? [] : [{ prefix, ...feed }]));
}

/** Remembers what each object said, because a deletion tells only its name. */
function sourceFeed(index: DisruptionIndex): Omit<Feed, 'prefix'> {
  const keys = new Map<string, string>();
  return {
    set(object) {
      const { name = '', namespace = '' } = object.metadata;
      const read = readGroupSource(object);
      if (read === undefined) return;
      keys.set(`${namespace}/${name}`, read.key);
      index.setSource(namespace, read.key, read.source);
    },
    delete(namespace, name) {
      const key = keys.get(`${namespace}/${name}`);
      if (key === undefined) return;
      keys.delete(`${namespace}/${name}`);
      index.setSource(namespace, key, undefined);
    },
  };
}
