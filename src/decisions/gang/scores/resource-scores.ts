import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { CPU, MEMORY } from '../cluster/resources.ts';

const share = (used: number, of: number): number => (of <= 0 ? 1 : Math.min(used / of, 1));

/** 0-100: how empty the node stays, CPU and memory alike. */
export function scoreLeastAllocated(pod: PodFacts, node: NodeFacts): number {
  const cpu = share(node.assumedCpu + pod.assumed.cpu, node.allocatable[CPU] ?? 0);
  const memory = share(node.assumedMemory + pod.assumed.memory, node.allocatable[MEMORY] ?? 0);
  return 50 * (1 - cpu) + 50 * (1 - memory);
}

/** 0-100: how close the shares of CPU and memory in use stay to each other. */
export function scoreBalance(pod: PodFacts, node: NodeFacts): number {
  const cpu = share(node.assumedCpu + pod.assumed.cpu, node.allocatable[CPU] ?? 0);
  const memory = share(node.assumedMemory + pod.assumed.memory, node.allocatable[MEMORY] ?? 0);
  return 100 * (1 - Math.abs(cpu - memory) / 2);
}
