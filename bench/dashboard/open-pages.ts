/**
 * What open pages cost the server at 150,000 pods: evictions of 32 clients, a round with no page open and a round with 20,
 * in turn, in one run. The pages of one user share a copy.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { percentile } from '../control-plane/report.ts';
import { startQuorate, type QuorateTarget, withFolder } from '../control-plane/target.ts';
import { makeBudgetedFleet } from '../evictions/budgets.ts';
import { CLIENTS, connectTo, type HostConnection } from '../evictions/connection.ts';
import { cpuSecondsOf } from '../processor-time.ts';
import { median, report } from '../report.ts';
import { logIn } from './log-in.ts';
import { seedFleet } from './seed.ts';

const PODS = Number(process.env['QUORATE_BENCH_PODS'] ?? 150_000);
const PAGES = 20;
const ROUNDS = 4;
const WARM_UP = 2;
const SHAPE = { budgets: 20, pods: 100 };

interface Round {
  readonly p50: number;
  readonly cpuMs: number;
}

export async function benchOpenPages(): Promise<void> {
  await withFolder(async (folder) => {
    await seedFleet(folder, { nodes: 0, pods: PODS, groupSize: 0 });
    const target = await startQuorate(folder);
    const host = await connectTo(join(folder, 'kubeconfig'));
    try {
      await compare(target, host);
    } finally {
      host.close();
      await target.stop();
    }
  });
}

async function compare(target: QuorateTarget, host: HostConnection): Promise<void> {
  let at = 0;
  const evict = (): Promise<Round> => evictOnce(target, host, `bench-${(at += 1)}`);
  for (let round = 0; round < WARM_UP; round += 1) await evict();
  const before = residentMb(target.pid);
  const without: Round[] = [];
  const beside: Round[] = [];
  let mostMb = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    without.push(await evict());
    const pages = await openPages(target);
    await evict();
    beside.push(await evict());
    mostMb = Math.max(mostMb, residentMb(target.pid));
    pages.kill();
    await once(pages, 'exit');
    await evict();
  }
  const p50 = (rounds: readonly Round[]): number => median(rounds.map((round) => round.p50));
  const cpu = (rounds: readonly Round[]): number => median(rounds.map((round) => round.cpuMs));
  const more = p50(beside) / p50(without) - 1;
  const what = `dashboard: ${PAGES} open pages, ${PODS} pods`;
  report(
    `${what}: an eviction of ${CLIENTS} clients, p50`,
    `${p50(without).toFixed(2)} ms without, ${p50(beside).toFixed(2)} ms with`,
  );
  report('  which is more by', `${(100 * more).toFixed(1)} %`, { target: 'less than 10 %', met: more < 0.1 });
  report('  processor time of an eviction', `${cpu(without).toFixed(2)} ms without, ${cpu(beside).toFixed(2)} ms with`);
  report('  resident', `${before.toFixed(0)} MB without, at most ${mostMb.toFixed(0)} MB with`);
}

async function openPages({ headers, server, tls }: QuorateTarget): Promise<ChildProcess> {
  const cookies: string[] = [];
  for (let page = 0; page < PAGES; page += 1) cookies.push(await logIn({ headers, server, tls }));
  const pages = fork(join(import.meta.dirname, 'readers.ts'));
  pages.send({ server, ca: tls.ca.toString('utf8'), cookies });
  await once(pages, 'message');
  return pages;
}

/** Fresh pods under budgets that let them all go, by as many clients as the measurements of evictions have. */
async function evictOnce({ pid }: QuorateTarget, host: HostConnection, namespace: string): Promise<Round> {
  const fleet = await makeBudgetedFleet(host, namespace, SHAPE);
  const times: number[] = [];
  const spent = cpuSecondsOf([pid]);
  let next = 0;
  const client = async (): Promise<void> => {
    for (let pod = fleet[next++]; pod !== undefined; pod = fleet[next++]) {
      const body = JSON.stringify({
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: pod.name, namespace },
        deleteOptions: { gracePeriodSeconds: 0 },
      });
      const started = performance.now();
      const { status } = await host.send('POST', `/api/v1/namespaces/${namespace}/pods/${pod.name}/eviction`, body);
      if (status !== 201) throw new Error(`The server answered ${status} instead of 201`);
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { p50: percentile(times, 0.5), cpuMs: (1000 * (cpuSecondsOf([pid]) - spent)) / fleet.length };
}

function residentMb(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1000;
}
