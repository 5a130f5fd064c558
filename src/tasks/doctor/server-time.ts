import type { ClusterFacts } from './facts.ts';

/** Now by the API server's clock, which it tells to the second. */
export function serverNowMs({ nowMs, serverTime }: Pick<ClusterFacts, 'nowMs' | 'serverTime'>): number {
  return serverTime === undefined ? nowMs : nowMs + (serverTime.atMs + 500 - serverTime.localMs);
}
