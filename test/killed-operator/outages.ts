/** What pods and nodes themselves show while a Maintenance is at work. */
import type { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { podType } from '../../src/api/resource-types.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';

/** Gangs by their label `team`, whole while enough of their pods are Ready and stay. */
export class Outages {
  readonly counts = new Map<string, number>();
  mostDown = 0;
  readonly #size: number;
  readonly #up = new Map<string, Set<string>>();
  readonly #down = new Set<string>();
  #counting = false;

  constructor(size: number) {
    this.#size = size;
  }

  get whole(): number {
    return this.#up.size - this.#down.size;
  }

  begin(): void {
    this.#counting = true;
  }

  async follow(client: Client, signal: AbortSignal): Promise<void> {
    const { items, metadata } = await client.list(podType, { namespace: 'default' });
    for (const pod of items) this.#see(pod, false);
    let { resourceVersion } = metadata;
    while (!signal.aborted) {
      try {
        for await (const { object, type } of client.watch(podType, { namespace: 'default', resourceVersion, signal })) {
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
          if (type !== 'BOOKMARK') this.#see(object, type === 'DELETED');
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  #see({ metadata, status }: Pod, isGone: boolean): void {
    const gang = metadata.labels?.['team'];
    if (gang === undefined) return;
    const up = this.#up.get(gang) ?? new Set();
    this.#up.set(gang, up);
    const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
    if (!isGone && metadata.deletionTimestamp === undefined && isReady) up.add(metadata.uid ?? '');
    else up.delete(metadata.uid ?? '');
    const isDown = up.size < this.#size;
    if (isDown && !this.#down.has(gang) && this.#counting) this.counts.set(gang, (this.counts.get(gang) ?? 0) + 1);
    if (isDown) this.#down.add(gang);
    else this.#down.delete(gang);
    if (this.#counting) this.mostDown = Math.max(this.mostDown, this.#down.size);
  }
}

/** Since when conditions of nodes have not been true of the cluster, and the longest of that. */
export interface Wrong {
  readonly since: Map<string, number>;
  longestMs: number;
}

const CLAIM = 'policy.quorate.dev/maintenance';

/** A claimed node is being drained while there are pods on it, and drained when there are none. */
export function wrongNodes(wrong: Wrong, nodes: readonly Node[], pods: readonly Pod[], now: number): void {
  for (const { metadata, status } of nodes) {
    const name = metadata.name ?? '';
    const said = new Map(status?.conditions?.map((one) => [one.type, one.status]));
    const wanted = pods.some(({ spec }) => spec?.nodeName === name) ? 'DrainInProgress' : 'Drained';
    const isTrue = metadata.annotations?.[CLAIM] === undefined || said.get(wanted) === 'True';
    const since = isTrue ? now : (wrong.since.get(name) ?? now);
    wrong.since.set(name, since);
    wrong.longestMs = Math.max(wrong.longestMs, now - since);
  }
}
