import { createLoad, expectStatus, measureRate, podBody } from './load.ts';
import type { Measure } from './report.ts';
import type { Target } from './target.ts';

const PODS = '/api/v1/namespaces/default/pods';
const CLIENTS = 32;
/** Created before anything is measured, on either server: neither stays as cold as it starts. */
const WARM_UP = 5000;

/** Creates, status patches, reads and lists of pods, by 32 clients over TLS. */
export async function measurePods(target: Target, { pods }: { pods: number }): Promise<Measure[]> {
  const warmUp = Math.min(WARM_UP, pods);
  const { send, close } = createLoad(target, CLIENTS);
  const rate = (count: number, work: (number: number) => Promise<unknown>) =>
    measureRate({ count, atOnce: CLIENTS }, work);
  try {
    await rate(warmUp, (at) => expectStatus(send('POST', PODS, podBody(`warm-${at}`)), 201));
    const creates = await rate(pods, (at) => expectStatus(send('POST', PODS, podBody(`web-${at}`)), 201));
    const patches = await rate(pods, (at) =>
      expectStatus(
        send('PATCH', `${PODS}/web-${at % pods}/status`, readyPatch(at), 'application/strategic-merge-patch+json'),
        200,
      ),
    );
    const gets = await rate(pods * 2, (at) => expectStatus(send('GET', `${PODS}/web-${at % pods}`), 200));
    const lists = await measureRate({ count: 20, atOnce: 2 }, () => expectStatus(send('GET', PODS), 200));
    return [
      { name: 'pod creates', unit: 'per second', value: creates },
      { name: 'pod status patches', unit: 'per second', value: patches },
      { name: 'pod GETs', unit: 'per second', value: gets },
      { name: 'pods read by LIST', unit: 'per second', value: lists * (pods + warmUp) },
    ];
  } finally {
    close();
  }
}

/** Creates alone, where every controller and the scheduler look at each new pod. */
export async function measureWatchedCreates(target: Target, { pods }: { pods: number }): Promise<Measure[]> {
  const { send, close } = createLoad(target, CLIENTS);
  const create = (name: string) => expectStatus(send('POST', PODS, podBody(name)), 201);
  try {
    await measureRate({ count: Math.min(WARM_UP, pods), atOnce: CLIENTS }, (at) => create(`warm-${at}`));
    const value = await measureRate({ count: pods, atOnce: CLIENTS }, (at) => create(`web-${at}`));
    return [{ name: 'pod creates beside all controllers', unit: 'per second', value }];
  } finally {
    close();
  }
}

function readyPatch(at: number): string {
  const lastTransitionTime = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString().replace('.000', '');
  return JSON.stringify({
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] },
  });
}
