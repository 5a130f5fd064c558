import type { Client } from '../../src/machinery/runtime/index.ts';

const NAME = 'apiserver_admission_webhook_admission_duration_seconds';

/** How long the API server has waited for one webhook: how often, and how often no longer than each bound. */
export interface WaitedFor {
  readonly count: number;
  readonly seconds: number;
  /** Bounds in milliseconds, ascending, with the number of calls that took no longer. */
  readonly within: ReadonlyMap<number, number>;
}

/** Reads what the API server measures itself. */
export async function readWaits(client: Client, webhook: string): Promise<WaitedFor> {
  const text = await client.request<string>('GET', '/metrics');
  const within = new Map<number, number>();
  let count = 0;
  let seconds = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith(NAME) || !line.includes(`name="${webhook}"`)) continue;
    const value = Number(line.slice(line.lastIndexOf(' ') + 1));
    if (line.startsWith(`${NAME}_sum`)) seconds += value;
    if (line.startsWith(`${NAME}_count`)) count += value;
    const bound = /le="([\d.]+)"/.exec(line)?.[1];
    if (bound !== undefined) within.set(Number(bound) * 1000, (within.get(Number(bound) * 1000) ?? 0) + value);
  }
  return { count, seconds, within: new Map([...within].toSorted(([a], [b]) => a - b)) };
}

export function waitsSince(before: WaitedFor, after: WaitedFor): WaitedFor {
  return {
    count: after.count - before.count,
    seconds: after.seconds - before.seconds,
    within: new Map([...after.within].map(([bound, calls]) => [bound, calls - (before.within.get(bound) ?? 0)])),
  };
}

export function told({ count, seconds, within }: WaitedFor): string {
  const bounds = [...within]
    .map(([bound, calls]) => `${((100 * calls) / count).toFixed(1)} % in ${bound} ms`)
    .slice(0, 3);
  return `mean ${((seconds * 1000) / count).toFixed(2)} ms, ${bounds.join(', ')} (${count})`;
}
