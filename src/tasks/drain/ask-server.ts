import type { Client } from '../../machinery/runtime/index.ts';
import type { DrainPod, DrainResult } from './drain.ts';
import { evictPod } from '../../machinery/runtime/evict-pod.ts';

/**
 * What the API server says to each eviction of a dry run, with every webhook and admission step in its way. It is asked
 * about one pod at a time, as if the others stayed.
 */
export async function askServer(
  client: Client,
  looked: DrainResult,
  gracePeriodSeconds?: number,
): Promise<DrainResult> {
  if (looked.outcome !== 'WouldDrain') return looked;
  const pods: DrainPod[] = [];
  for (const pod of looked.pods) {
    const answer =
      pod.state === 'Planned' ? await evictPod(client, pod, gracePeriodSeconds, { dryRun: true }) : undefined;
    if (answer?.kind === 'wait') pods.push({ ...pod, state: 'Waiting', text: answer.text });
    else if (answer?.kind === 'failed') pods.push({ ...pod, state: 'Failed', text: answer.text });
    else pods.push(answer?.kind === 'gone' ? { ...pod, state: 'Gone' } : pod);
  }
  const refused = pods.some(({ state }) => state === 'Waiting' || state === 'Failed');
  return { ...looked, outcome: refused ? 'Refused' : 'WouldDrain', pods };
}
