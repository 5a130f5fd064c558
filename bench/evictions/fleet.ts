/** Ready pods to evict, and their eviction by as many clients at once as the measurements have. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { namespaceType, serviceAccountType } from '../../src/api/resource-types.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';
import { expectStatus, type Send } from '../control-plane/load.ts';
import { CLIENTS } from './connection.ts';
import { ensure, NODE } from './heartbeat.ts';

export async function makeNamespace(client: Client, namespace: string): Promise<void> {
  await ensure(client.create(namespaceType, { metadata: { name: namespace } }));
  await ensure(client.create(serviceAccountType, { metadata: { name: 'default', namespace } }));
}

export interface FleetPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export async function makeReadyPods(send: Send, namespace: string, pods: readonly FleetPod[]): Promise<void> {
  await eachOf(pods, async (pod) => {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    await expectStatus(send('POST', path, JSON.stringify(document(namespace, pod))), 201);
    await expectStatus(send('PUT', `${path}/${pod.name}/status`, readiness(namespace, pod, true)), 200);
  });
}

function document(namespace: string, { labels, name }: FleetPod): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { containers: [{ name: 'main', image: 'x' }], nodeName: NODE, automountServiceAccountToken: false },
  };
}

/** The body that makes a pod ready or unready, whatever its resourceVersion. */
export function readiness(namespace: string, pod: FleetPod, ready: boolean): string {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  return JSON.stringify({ ...document(namespace, pod), status: { phase: 'Running', conditions } });
}

export interface Evicted {
  readonly perSecond: number;
  /** Processor time of the whole host; says more than the rate on a busy machine. */
  readonly cpuMs: number;
}

/** Every name once, each client with one request under way. */
export async function evictAll(send: Send, namespace: string, names: readonly string[]): Promise<Evicted> {
  const before = childCpuMs();
  const started = performance.now();
  await eachOf(names, async (name) => {
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions: { gracePeriodSeconds: 0 },
    };
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
    await expectStatus(send('POST', path, JSON.stringify(body)), 201);
  });
  const perSecond = (names.length * 1000) / (performance.now() - started);
  return { perSecond, cpuMs: (childCpuMs() - before) / names.length };
}

async function eachOf<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await run(item);
  };
  await Promise.all(Array.from({ length: CLIENTS }, worker));
}

/** Asks until it is so. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Processor time of the processes this one started, where the system tells. */
function childCpuMs(): number {
  let ticks = 0;
  for (const name of existsSync('/proc') ? readdirSync('/proc') : []) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      // After the command in brackets: state, parent, …, user time 12th, system time 13th.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[1]) === process.pid) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // The process ended while we looked.
    }
  }
  return ticks * 10;
}
