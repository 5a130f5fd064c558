import type { Selector } from '../../../machinery/values/index.ts';
import type { Placed } from './placed.ts';

type Bucket = Map<string, Placed>;

/**
 * Placed pods by namespace and by label, so that a rule about other pods looks at those that carry its label and not
 * at all there are. Made when the first such rule asks: many clusters have none.
 */
export class LabelIndex {
  readonly #all: () => Iterable<Placed>;
  readonly #namespaces = new Map<string, Bucket>();
  readonly #labels = new Map<string, Bucket>();
  #made = false;

  constructor(all: () => Iterable<Placed>) {
    this.#all = all;
  }

  add(placed: Placed): void {
    if (this.#made) this.#add(placed);
  }

  #make(): void {
    if (this.#made) return;
    this.#made = true;
    for (const placed of this.#all()) this.#add(placed);
  }

  #add(placed: Placed): void {
    const { labels, namespace, uid } = placed.pod;
    put(this.#namespaces, namespace, uid, placed);
    for (const key in labels) put(this.#labels, bucketName(namespace, key, labels[key] ?? ''), uid, placed);
  }

  remove({ pod: { labels, namespace, uid } }: Placed): void {
    if (!this.#made) return;
    drop(this.#namespaces, namespace, uid);
    for (const key in labels) drop(this.#labels, bucketName(namespace, key, labels[key] ?? ''), uid);
  }

  namespaces(): Iterable<string> {
    this.#make();
    return this.#namespaces.keys();
  }

  /** Pods of a namespace among which are all that the selector matches; the caller still has to match. */
  *candidates(namespace: string, { matchesNothing, requirements }: Selector): Generator<Placed> {
    if (matchesNothing) return;
    this.#make();
    const all = this.#namespaces.get(namespace);
    if (all === undefined) return;
    let best: Bucket[] = [all];
    let size = all.size;
    for (const { key, operator, values } of requirements) {
      if (operator !== 'In') continue;
      const buckets = values.map((value) => this.#labels.get(bucketName(namespace, key, value)) ?? new Map());
      const total = buckets.reduce((sum, bucket) => sum + bucket.size, 0);
      if (total < size) [best, size] = [buckets, total];
    }
    for (const bucket of best) yield* bucket.values();
  }
}

const bucketName = (namespace: string, key: string, value: string): string => `${namespace}\n${key}=${value}`;

function put(buckets: Map<string, Bucket>, name: string, uid: string, placed: Placed): void {
  const bucket = buckets.get(name);
  if (bucket === undefined) buckets.set(name, new Map([[uid, placed]]));
  else bucket.set(uid, placed);
}

function drop(buckets: Map<string, Bucket>, name: string, uid: string): void {
  const bucket = buckets.get(name);
  bucket?.delete(uid);
  if (bucket?.size === 0) buckets.delete(name);
}
