import type { MetricSpec, MetricStatus, MetricTarget } from '../../api/generated/autoscaling-v2.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { formatNanos, parseMillis } from '../../machinery/values/index.ts';
import { readUsage } from './metrics.ts';
import { recommendByUsage, type UsageQuestion } from './usage.ts';

export interface RecommendQuestion extends Pick<UsageQuestion, 'pods' | 'currentReplicas' | 'tolerance' | 'now'> {
  readonly metrics: readonly MetricSpec[];
  readonly namespace: string;
  readonly labelSelector: string;
  readonly pods: readonly Pod[];
}

export type Recommendation =
  | {
      readonly ok: true;
      readonly replicas: number;
      readonly metric: string;
      readonly statuses: readonly MetricStatus[];
      /** Why some metrics had no say. */
      readonly partial: string | undefined;
    }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly message: string;
      readonly statuses: readonly MetricStatus[];
    };

/** The highest size any metric asks for. Metrics that cannot be read veto a downscale, but not growth. */
export async function recommend(client: Client, question: RecommendQuestion): Promise<Recommendation> {
  const statuses: MetricStatus[] = [];
  const failures: { reason: string; message: string }[] = [];
  let best: { replicas: number; metric: string } | undefined;
  for (const metric of question.metrics) {
    const outcome = await recommendByMetric(client, metric, question);
    if ('message' in outcome) {
      failures.push(outcome);
      continue;
    }
    statuses.push(outcome.status);
    if (best === undefined || outcome.replicas > best.replicas) best = outcome;
  }
  const [first] = failures;
  const text =
    first === undefined
      ? undefined
      : `invalid metrics (${failures.length} invalid out of ${question.metrics.length}), first error is: ${first.message}`;
  if (best === undefined || (first !== undefined && best.replicas < question.currentReplicas)) {
    return { ok: false, reason: first?.reason ?? 'InvalidMetricSourceType', message: text ?? 'no metrics', statuses };
  }
  return { ok: true, ...best, statuses, partial: text };
}

async function recommendByMetric(
  client: Client,
  metric: MetricSpec,
  { currentReplicas, labelSelector, namespace, now, pods, tolerance }: RecommendQuestion,
): Promise<{ replicas: number; metric: string; status: MetricStatus } | { reason: string; message: string }> {
  const source = metric.type === 'ContainerResource' ? metric.containerResource : metric.resource;
  if (source === undefined || (metric.type !== 'Resource' && metric.type !== 'ContainerResource')) {
    return { reason: 'InvalidMetricSourceType', message: `metric source type "${metric.type}" is not served here` };
  }
  const reason = metric.type === 'Resource' ? 'FailedGetResourceMetric' : 'FailedGetContainerResourceMetric';
  const { name: resource, target } = source;
  const container = metric.containerResource?.container;
  const goal = targetOf(target);
  if (goal === undefined) return { reason, message: `invalid resource metric source: no target for ${resource}` };
  let measured: UsageQuestion['measured'];
  try {
    measured = await readUsage(client, { namespace, labelSelector, resource, container });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return {
      reason,
      message: `failed to get ${resource} usage: unable to get metrics for resource ${resource}: ${text}`,
    };
  }
  const question = { pods, measured, resource, container, target: goal, currentReplicas, tolerance, now };
  const verdict = recommendByUsage(question);
  if (!verdict.ok) return { reason, message: `failed to get ${resource} utilization: ${verdict.message}` };
  const current = {
    averageValue: formatNanos(BigInt(verdict.averageMillis) * 1_000_000n),
    ...(verdict.utilization === undefined ? {} : { averageUtilization: verdict.utilization }),
  };
  const status: MetricStatus =
    container === undefined
      ? { type: 'Resource', resource: { name: resource, current } }
      : { type: 'ContainerResource', containerResource: { name: resource, container, current } };
  const what =
    verdict.utilization === undefined
      ? `${resource} resource`
      : `${resource} resource utilization (percentage of request)`;
  return { replicas: verdict.replicas, metric: what, status };
}

function targetOf({ averageUtilization, averageValue }: MetricTarget): UsageQuestion['target'] | undefined {
  if (averageUtilization !== undefined) return { utilization: averageUtilization };
  return averageValue === undefined ? undefined : { averageMillis: parseMillis(averageValue) };
}
