import type { NodeFacts } from '../../placement/cluster/node-facts.ts';
import type { PodFacts } from '../../placement/cluster/pod-facts.ts';
import { CPU, MEMORY } from '../../placement/cluster/resources.ts';

const share = (used: number, of: number): number => (of <= 0 ? 1 : Math.min(used / of, 1));

export interface ResourceWeights {
  readonly leastAllocated: number;
  readonly balance: number;
}

/**
 * Two scores of 0-100, weighted: how empty the node stays, CPU and memory alike, and how close the shares of the two
 * in use stay to each other.
 */
export function scoreResources(pod: PodFacts, node: NodeFacts, { balance, leastAllocated }: ResourceWeights): number {
  const cpu = share(node.assumedCpu + pod.assumed.cpu, node.allocatable[CPU] ?? 0);
  const memory = share(node.assumedMemory + pod.assumed.memory, node.allocatable[MEMORY] ?? 0);
  const empty = 50 * (1 - cpu) + 50 * (1 - memory);
  const even = 100 * (1 - Math.abs(cpu - memory) / 2);
  return leastAllocated * empty + balance * even;
}
