import { median } from '../report.ts';
import { createLoad, expectStatus, measureRate, podBody, type Send } from './load.ts';
import type { Measure } from './report.ts';
import type { Target } from './target.ts';

const PODS = '/api/v1/namespaces/default/pods';
/** Apart, so that both kinds of pods are listed and read by themselves. */
const UNLIKE_PODS = '/api/v1/namespaces/kube-public/pods';
const CLIENTS = 32;
/** Workloads that scale at the same time, their pods one after the other: what a cluster does. */
const TEMPLATES = 8;
/** Created before anything is measured, on either server: neither stays as cold as it starts. */
const WARM_UP = 10_000;

/** So many of each measure, on each server in turn, so that a machine that slows down for a while slows both. */
const ROUNDS = 5;

/**
 * Creates, status patches, reads and lists of pods, by 32 clients over TLS; on every target the same, round by round. By
 * target, in the order given.
 */
export async function measurePods(targets: readonly Target[], { pods }: { pods: number }): Promise<Measure[][]> {
  const loads = targets.map((target) => createLoad(target, CLIENTS));
  const share = Math.ceil(pods / ROUNDS);
  const warmUp = Math.min(WARM_UP, pods);
  const create = (send: Send, name: string, template = 0) =>
    expectStatus(send('POST', PODS, podBody(name, { template })), 201);
  // Replicas have their spec in common, which a server may make use of; these have not.
  const createUnlike = (send: Send, name: string) =>
    expectStatus(send('POST', UNLIKE_PODS, podBody(name, { unlike: true })), 201);
  const steps: readonly Step[] = [
    {
      name: 'pod creates of 8 templates',
      run: (send, round) => rate(share, (at) => create(send, `set-${round}-${at}`, at % TEMPLATES)),
    },
    {
      name: 'pod creates of one template',
      run: (send, round) => rate(share, (at) => create(send, `web-${round}-${at}`)),
    },
    {
      name: 'pod creates, all unlike',
      run: (send, round) => rate(share, (at) => createUnlike(send, `own-${round}-${at}`)),
    },
    {
      name: 'pod status patches',
      run: (send, round) => rate(share, (at) => patchStatus(send, `web-${round}-${at}`, round * share + at)),
    },
    {
      name: 'pod GETs',
      run: (send, round) =>
        rate(share * 2, (at) => expectStatus(send('GET', `${PODS}/web-${round}-${at % share}`), 200)),
    },
    {
      name: 'pods read by LIST',
      run: async (send) => {
        const lists = await measureRate({ count: 8, atOnce: 2 }, () => expectStatus(send('GET', PODS), 200));
        return lists * (2 * share * ROUNDS + warmUp);
      },
    },
  ];
  try {
    for (const target of targets) target.pause();
    for (const [at, { send }] of loads.entries()) {
      await alone(targets[at], () => rate(warmUp, (number) => create(send, `warm-${number}`)));
    }
    const measures: Measure[][] = targets.map(() => []);
    for (const { name, run } of steps) {
      const values: number[][] = targets.map(() => []);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [at, { send }] of loads.entries()) {
          values[at]?.push(await alone(targets[at], () => run(send, round)));
        }
      }
      for (const [at, list] of values.entries()) measures[at]?.push({ name, unit: 'per second', value: median(list) });
    }
    return measures;
  } finally {
    for (const { close } of loads) close();
    for (const target of targets) target.resume();
  }
}

/** Whoever is not measured is held. */
async function alone<T>(target: Target | undefined, measure: () => Promise<T>): Promise<T> {
  target?.resume();
  try {
    return await measure();
  } finally {
    target?.pause();
  }
}

interface Step {
  readonly name: string;
  readonly run: (send: Send, round: number) => Promise<number>;
}

const rate = (count: number, work: (number: number) => Promise<unknown>): Promise<number> =>
  measureRate({ count, atOnce: CLIENTS }, work);

function patchStatus(send: Send, name: string, at: number): Promise<unknown> {
  const body = readyPatch(at);
  return expectStatus(send('PATCH', `${PODS}/${name}/status`, body, 'application/strategic-merge-patch+json'), 200);
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
