/** How long one group decision takes on a large cluster, from empty to full. No API, no I/O. */
import { ownCpuSeconds } from '../processor-time.ts';
import { Cluster, placeGroup, podFacts } from '../../src/decisions/gang/index.ts';

export interface DecisionResult {
  readonly nodes: number;
  readonly pods: number;
  readonly podsPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** Processor time, which other work on the machine does not change. */
  readonly cpuP99Ms: number;
}

export interface DecisionOptions {
  readonly nodes?: number;
  readonly gangs?: number;
  readonly size?: number;
}

export function measureDecisions({ gangs = 1250, nodes = 5000, size = 8 }: DecisionOptions = {}): DecisionResult {
  const cluster = new Cluster();
  for (let index = 0; index < nodes; index += 1) {
    cluster.setNode({
      metadata: {
        name: `node-${index}`,
        labels: { 'kubernetes.io/hostname': `node-${index}`, 'topology.kubernetes.io/zone': `zone-${index % 10}` },
      },
      status: { allocatable: { cpu: '32', memory: '256Gi', pods: '110', 'nvidia.com/gpu': '8' } },
    });
  }
  const times: number[] = [];
  const cpuTimes: number[] = [];
  let placed = 0;
  const start = performance.now();
  for (let gang = 0; gang < gangs; gang += 1) {
    const name = `gang-${gang}`;
    const pods = Array.from({ length: size }, (_, member) =>
      podFacts(
        {
          metadata: { name: `${name}-${member}`, namespace: 'default', uid: `${name}-${member}` },
          spec: {
            containers: [
              {
                name: 'main',
                image: 'main',
                resources: { requests: { cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '1' } },
              },
            ],
          },
        },
        cluster.resources,
        `default/${name}`,
      ),
    );
    const [began, cpuBegan] = [performance.now(), ownCpuSeconds()];
    const { placements } = placeGroup({ kind: 'leaf', name, needed: size, scheduled: 0, pods }, cluster);
    // The first ones pay for compilation.
    if (gang >= gangs / 10) {
      times.push(performance.now() - began);
      cpuTimes.push((ownCpuSeconds() - cpuBegan) * 1000);
    }
    for (const { node, pod } of placements) cluster.place(pod, node);
    placed += placements.length;
  }
  const took = performance.now() - start;
  for (const list of [times, cpuTimes]) list.sort((a, b) => a - b);
  const at = (share: number, of = times): number => of[Math.min(of.length - 1, Math.floor(of.length * share))] ?? 0;
  return {
    nodes,
    pods: placed,
    podsPerSecond: Math.round((placed / took) * 1000),
    medianMs: at(0.5),
    p99Ms: at(0.99),
    worstMs: times.at(-1) ?? 0,
    cpuP99Ms: at(0.99, cpuTimes),
  };
}
