/** Drains as kubectl does: cordon, evict one pod after another, ask again where a budget says no, wait until all are gone. */
import { type Client, type Clock, evictPod, sleep } from '../../src/machinery/runtime/index.ts';
import { nodeType, podType } from '../../src/api/resource-types.ts';

const AGAIN_MS = 5000;
const LOOK_MS = 1000;

export interface DrainClient {
  readonly client: Client;
  readonly clock: Clock;
}

/** Ends when no pod of the namespace is left on the node; whatever fails is tried again, as a person would. */
export async function drainNode(side: DrainClient, node: string): Promise<void> {
  await persist(side, () => setUnschedulable(side, node, true));
  for (;;) {
    const pods = await persist(side, async () => {
      const fieldSelector = `spec.nodeName=${node}`;
      return (await side.client.list(podType, { namespace: 'default', fieldSelector })).items;
    });
    if (pods.length === 0) return;
    let refused = false;
    for (const { metadata } of pods) {
      if (metadata.deletionTimestamp !== undefined) continue;
      const pod = { namespace: 'default', name: metadata.name ?? '' };
      const answer = await persist(side, () => evictPod(side.client, pod));
      refused ||= answer.kind === 'wait' || answer.kind === 'failed';
    }
    await sleep(side.clock, refused ? AGAIN_MS : LOOK_MS);
  }
}

export const uncordon = (side: DrainClient, node: string): Promise<void> =>
  persist(side, () => setUnschedulable(side, node, false));

async function setUnschedulable({ client }: DrainClient, name: string, unschedulable: boolean): Promise<void> {
  await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable } } });
}

/** Asks until there is an answer. */
export async function persist<T>({ clock }: DrainClient, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await sleep(clock, LOOK_MS);
    }
  }
}
