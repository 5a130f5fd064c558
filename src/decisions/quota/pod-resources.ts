/** What a whole pod asks for, from what its containers ask for. */
import type { Container, Pod } from '../../api/generated/core-v1.ts';
import { type Amounts, addAmounts, largest } from './amounts.ts';

export type ResourceSide = 'requests' | 'limits';

/**
 * Containers run together, so they add up. Init containers run one after another before them, so only the largest
 * counts; those that keep running (restartPolicy Always) add to everything that starts after them. What the pod itself
 * states replaces the sum; overhead comes on top.
 */
export function podResources(pod: Pod, side: ResourceSide): Record<string, string> {
  const of = (container: Container): Amounts => container.resources?.[side] ?? {};
  let running: Amounts = {};
  for (const container of pod.spec?.containers ?? []) running = addAmounts(running, of(container));
  let lasting: Amounts = {};
  let starting: Amounts = {};
  for (const container of pod.spec?.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      running = addAmounts(running, of(container));
      lasting = addAmounts(lasting, of(container));
      starting = largest(starting, lasting);
    } else {
      starting = largest(starting, addAmounts(of(container), lasting));
    }
  }
  const total = { ...largest(running, starting), ...pod.spec?.resources?.[side] };
  const overhead = pod.spec?.overhead ?? {};
  if (side === 'requests') return addAmounts(total, overhead);
  const counted = Object.entries(overhead).filter(([name]) => total[name] !== undefined);
  return addAmounts(total, Object.fromEntries(counted));
}

export function isBestEffort(pod: Pod): boolean {
  const asks = (container: Container): boolean =>
    (['requests', 'limits'] as const).some((side) =>
      ['cpu', 'memory'].some((name) => isPositive(container.resources?.[side]?.[name])),
    );
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return pod.spec?.resources === undefined && !containers.some(asks);
}

const isPositive = (quantity: string | number | undefined): boolean =>
  quantity !== undefined && !/^0*(\.0*)?\D*$/.test(String(quantity));
