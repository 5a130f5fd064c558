import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type StoredEntry, openLmdbStore, type Transaction } from '../../src/storage/index.ts';
import { cpuSecondsOf, meter } from '../processor-time.ts';
import { createLoad, expectStatus, measureRate, podBody, type Send } from './load.ts';
import { type Measure, percentile } from './report.ts';
import { startQuorate, withFolder } from './target.ts';

const PODS = '/api/v1/namespaces/default/pods';
const NODES = '/api/v1/nodes';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const WRITES_PER_SECOND = 1000;
/** Right after the start, while the code is cold and the controllers read everything for the first time. */
const COLD_SECONDS = 5;
const LOAD_SECONDS = 10;

/**
 * Kubernetes' own supported limit in one process: how long a start on that data takes, how much memory, and how long a
 * GET takes while a thousand writes a second go on, at first and then.
 */
export function measureScale(size: { pods: number; nodes: number }): Promise<Measure[]> {
  return withFolder(async (folder) => {
    await createSamples(folder);
    await multiply(join(folder, 'data', 'store'), size);
    const target = await startQuorate(folder);
    const { send, close } = createLoad(target, 64);
    try {
      const first = performance.now();
      await expectStatus(send('GET', `${PODS}/web-${numbered(size.pods - 1)}`), 200);
      const answeredMs = target.startMs + performance.now() - first;
      const startedMb = residentMb(target.pid);
      const cold = await readUnderWrites(send, size.pods, COLD_SECONDS);
      await untilIdle(target.pid);
      const caughtUpMs = performance.now() - first;
      const samples = await readUnderWrites(send, size.pods, LOAD_SECONDS);
      return [
        { name: `cold start on ${size.pods} pods and ${size.nodes} nodes`, unit: 's', value: answeredMs / 1000 },
        { name: 'resident after it', unit: 'MB', value: startedMb },
        { name: 'GET under writes right after it, median', unit: 'ms', value: percentile(cold, 0.5) },
        { name: 'GET under writes right after it, 99th percentile', unit: 'ms', value: percentile(cold, 0.99) },
        { name: 'until the controllers follow everything', unit: 's', value: caughtUpMs / 1000 },
        { name: `GET while ${WRITES_PER_SECOND} writes/s, median`, unit: 'ms', value: percentile(samples, 0.5) },
        {
          name: `GET while ${WRITES_PER_SECOND} writes/s, 99th percentile`,
          unit: 'ms',
          value: percentile(samples, 0.99),
        },
        { name: 'resident after that', unit: 'MB', value: residentMb(target.pid) },
      ];
    } finally {
      close();
      await target.stop();
    }
  });
}

/** Until the process has had nothing to do for a moment. */
async function untilIdle(pid: number): Promise<void> {
  const spent = meter(() => cpuSecondsOf([pid]));
  do await sleep(500);
  while (spent().share > 0.1);
}

/** One pod and one node with a heartbeat, made through the API, so that what is multiplied is what the server writes. */
async function createSamples(folder: string): Promise<void> {
  const target = await startQuorate(folder);
  const { send, close } = createLoad(target, 1);
  await expectStatus(send('POST', NODES, nodeBody('node-sample')), 201);
  await expectStatus(send('PATCH', `${NODES}/node-sample/status`, READY, 'application/merge-patch+json'), 200);
  await expectStatus(send('POST', LEASES, leaseBody('node-sample')), 201);
  await expectStatus(send('POST', PODS, podBody('web-sample', { small: true })), 201);
  close();
  await target.stop();
}

async function multiply(directory: string, { pods, nodes }: { pods: number; nodes: number }): Promise<void> {
  const store = await openLmdbStore({ directory });
  const copies = [
    { suffix: '/pods/default/web-sample', count: pods },
    { suffix: '/nodes/node-sample', count: nodes },
    { suffix: '/leases/kube-node-lease/node-sample', count: nodes },
  ];
  for (const { suffix, count } of copies) {
    const sample = store.range('').find(({ key }) => key.endsWith(suffix));
    if (sample === undefined) throw new Error(`The store has no key that ends in ${suffix}`);
    await measureRate({ count, atOnce: 256 }, (at) => store.transact((txn) => copy(txn, sample, at)));
  }
  await store.close();
}

/** Pods come in replicas, as they do: so many of each application, with labels and an image of its own. */
const REPLICAS = 100;

interface Copied {
  readonly metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string> };
  readonly spec?: { readonly containers?: { image: string }[] };
}

function copy(txn: Transaction, { key, value }: StoredEntry, at: number): void {
  const object = JSON.parse(value.toString()) as Copied;
  object.metadata.name = object.metadata.name.replace('sample', numbered(at));
  object.metadata.uid = randomUUID();
  const application = `app-${Math.floor(at / REPLICAS)}`;
  for (const container of object.spec?.containers ?? []) {
    object.metadata.labels = { ...object.metadata.labels, app: application };
    container.image = `registry.example.com/team/${application}:1.2.3`;
  }
  txn.put(key.replace(/sample$/, numbered(at)), (revision) => {
    object.metadata.resourceVersion = String(revision);
    return Buffer.from(JSON.stringify(object));
  });
}

const numbered = (at: number): string => String(at).padStart(6, '0');

async function readUnderWrites(send: Send, pods: number, seconds: number): Promise<number[]> {
  const samples: number[] = [];
  const writes: Promise<unknown>[] = [];
  const until = performance.now() + seconds * 1000;
  let written = 0;
  const started = performance.now();
  while (performance.now() < until) {
    const due = ((performance.now() - started) / 1000) * WRITES_PER_SECOND;
    for (; written < due; written++) {
      const body = JSON.stringify({ metadata: { annotations: { written: String(written) } } });
      writes.push(
        send('PATCH', `${PODS}/web-${numbered((written * 7919) % pods)}`, body, 'application/merge-patch+json'),
      );
    }
    const sentAt = performance.now();
    await expectStatus(send('GET', `${PODS}/web-${numbered((samples.length * 104_729) % pods)}`), 200);
    samples.push(performance.now() - sentAt);
  }
  await Promise.all(writes);
  return samples;
}

function nodeBody(name: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { zone: 'a' } } });
}

const READY = JSON.stringify({ status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] } });

function leaseBody(name: string): string {
  const spec = {
    holderIdentity: name,
    leaseDurationSeconds: 40,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
  };
  return JSON.stringify({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec });
}

function residentMb(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
