/** How soon a budget's status follows a pod, from the answer to a readiness change until a watch of the budget shows it. */
import { connect } from 'node:tls';
import { podDisruptionBudgetType } from '../../src/api/resource-types.ts';
import { expectStatus, type LoadTarget } from '../control-plane/load.ts';
import { makeBudgetedFleet } from './budgets.ts';
import type { HostConnection } from './connection.ts';
import { type FleetPod, readiness } from './fleet.ts';

const NAMESPACE = 'bench-latency';
const PODS = 100;

export interface Flips {
  /** Carried out first; told apart from those that are judged. */
  readonly warmUp: number;
  readonly measured: number;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export async function measureStatusLatency(
  host: HostConnection,
  { measured, warmUp }: Flips,
): Promise<{ first: Latency; sustained: Latency }> {
  const [pod] = await makeBudgetedFleet(host, NAMESPACE, { budgets: 1, pods: PODS });
  const { metadata } = await host.client.list(podDisruptionBudgetType, { namespace: NAMESPACE });
  const watch = followHealthy(host.target, metadata.resourceVersion);
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod?.name}/status`;
  const times: number[] = [];
  for (let flip = 0; flip < warmUp + measured; flip += 1) {
    const ready = flip % 2 === 1;
    const seen = watch.until(ready ? PODS : PODS - 1);
    await expectStatus(host.send('PUT', path, readiness(NAMESPACE, pod as FleetPod, ready)), 200);
    const answered = performance.now();
    times.push(Math.max(0, (await seen) - answered));
  }
  watch.close();
  return { first: latencyOf(times.slice(0, warmUp)), sustained: latencyOf(times.slice(warmUp)) };
}

function latencyOf(times: readonly number[]): Latency {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

/** A watch of the one budget that looks at nothing but how many pods it says are healthy. */
function followHealthy(
  { headers, server, tls }: LoadTarget,
  resourceVersion: string,
): { until(healthy: number): Promise<number>; close(): void } {
  const { hostname, port } = new URL(server);
  const waiting = new Map<string, (at: number) => void>();
  let text = '';
  const socket = connect({ ...tls, host: hostname, port: Number(port), ALPNProtocols: ['http/1.1'] }, () => {
    const path = `/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets?watch=1&resourceVersion=${resourceVersion}`;
    const fields = Object.entries({ host: `${hostname}:${port}`, accept: 'application/json', ...headers });
    socket.write(`GET ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  });
  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    let end = 0;
    for (const match of text.matchAll(/"currentHealthy":(\d+)[,}]/g)) {
      end = match.index + match[0].length;
      const found = waiting.get(match[1] ?? '');
      waiting.delete(match[1] ?? '');
      found?.(performance.now());
    }
    // Longer than what is looked for, so that it is found where it was cut.
    text = text.slice(Math.max(end, text.length - 64));
  });
  return {
    until: (healthy) => new Promise((resolve) => waiting.set(String(healthy), resolve)),
    close: () => socket.destroy(),
  };
}
