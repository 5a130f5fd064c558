import { readFileSync } from 'node:fs';
import { createLoad, expectStatus, measureRate, podBody, type Send } from './load.ts';
import { type Measure, percentile } from './report.ts';
import { startQuorate, withFolder } from './target.ts';

const PODS = '/api/v1/namespaces/default/pods';
const NODES = '/api/v1/nodes';
const WRITES_PER_SECOND = 1000;
const LOAD_SECONDS = 10;

/**
 * Kubernetes' own supported limit in one process: how much memory it takes, how long a start on that data takes, and
 * how long a GET takes while a thousand writes a second go on.
 */
export function measureScale({ pods, nodes }: { pods: number; nodes: number }): Promise<Measure[]> {
  return withFolder(async (folder) => {
    const filling = await startQuorate(folder);
    const fill = createLoad(filling, 32);
    await measureRate({ count: nodes, atOnce: 32 }, (at) => expectStatus(fill.send('POST', NODES, nodeBody(at)), 201));
    await measureRate({ count: pods, atOnce: 32 }, (at) =>
      expectStatus(fill.send('POST', PODS, podBody(`web-${at}`)), 201),
    );
    const filledMb = residentMb(filling.pid);
    fill.close();
    await filling.stop();

    const target = await startQuorate(folder);
    const { send, close } = createLoad(target, 64);
    try {
      await expectStatus(send('GET', `${PODS}/web-${pods - 1}`), 200);
      const samples = await readUnderWrites(send, pods);
      return [
        { name: `resident after creating ${pods} pods and ${nodes} nodes`, unit: 'MB', value: filledMb },
        { name: 'cold start on them', unit: 's', value: target.startMs / 1000 },
        {
          name: `GET while ${WRITES_PER_SECOND} writes/s, 99th percentile`,
          unit: 'ms',
          value: percentile(samples, 0.99),
        },
        { name: 'resident after the restart and that load', unit: 'MB', value: residentMb(target.pid) },
      ];
    } finally {
      close();
      await target.stop();
    }
  });
}

async function readUnderWrites(send: Send, pods: number): Promise<number[]> {
  const samples: number[] = [];
  const writes: Promise<unknown>[] = [];
  const until = performance.now() + LOAD_SECONDS * 1000;
  let written = 0;
  const started = performance.now();
  while (performance.now() < until) {
    const due = ((performance.now() - started) / 1000) * WRITES_PER_SECOND;
    for (; written < due; written++) {
      const body = JSON.stringify({ metadata: { annotations: { written: String(written) } } });
      writes.push(send('PATCH', `${PODS}/web-${(written * 7919) % pods}`, body, 'application/merge-patch+json'));
    }
    const sentAt = performance.now();
    await expectStatus(send('GET', `${PODS}/web-${(samples.length * 104_729) % pods}`), 200);
    samples.push(performance.now() - sentAt);
  }
  await Promise.all(writes);
  return samples;
}

function nodeBody(at: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `node-${at}`, labels: { zone: `z${at % 3}` } },
  });
}

function residentMb(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
