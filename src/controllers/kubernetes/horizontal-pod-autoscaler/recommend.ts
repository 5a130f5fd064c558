import type { MetricSpec, MetricStatus } from '../../../api/generated/autoscaling-v2.ts';
import type { Client } from '../../../machinery/runtime/index.ts';
import { type MetricAnswer, MetricFailure, type SourceQuestion, sources } from './sources.ts';

export interface RecommendQuestion extends SourceQuestion {
  readonly metrics: readonly MetricSpec[];
}

export type Recommendation = {
  /** In the order of the metrics; one that could not be read has a status without type. */
  readonly statuses: readonly MetricStatus[];
  readonly failures: readonly MetricFailure[];
} & (
  | { readonly ok: true; readonly replicas: number; readonly metric: string }
  | { readonly ok: false; readonly first: MetricFailure; readonly message: string }
);

/** The highest size any metric asks for. Metrics that cannot be read veto a downscale, but not growth. */
export async function recommend(client: Client, question: RecommendQuestion): Promise<Recommendation> {
  const statuses: MetricStatus[] = [];
  const failures: MetricFailure[] = [];
  let best: MetricAnswer | undefined;
  for (const metric of question.metrics) {
    try {
      const answer = await recommendByMetric(client, metric, question);
      statuses.push(answer.status);
      if (best === undefined || answer.replicas > best.replicas) best = answer;
    } catch (error) {
      if (!(error instanceof MetricFailure)) throw error;
      failures.push(error);
      statuses.push({ type: '' });
    }
  }
  const first = failures[0] ?? new MetricFailure('InvalidMetricSourceType', { what: '', why: 'no metrics' });
  if (best === undefined || (failures.length > 0 && best.replicas < question.currentReplicas)) {
    const count = `${failures.length} invalid out of ${question.metrics.length}`;
    return {
      ok: false,
      statuses,
      failures,
      first,
      message: `invalid metrics (${count}), first error is: ${first.message}`,
    };
  }
  return { ok: true, replicas: best.replicas, metric: best.metric, statuses, failures };
}

function recommendByMetric(client: Client, metric: MetricSpec, question: RecommendQuestion): Promise<MetricAnswer> {
  const source = sources[metric.type];
  if (source !== undefined) return source(client, metric, question);
  const why = `unknown metric source type ${JSON.stringify(metric.type)}`;
  throw new MetricFailure('InvalidMetricSourceType', { what: '', why });
}
