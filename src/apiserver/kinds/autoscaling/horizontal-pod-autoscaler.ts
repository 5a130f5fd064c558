/** autoscaling/v1 of the HorizontalPodAutoscaler, which knows one metric: cpu utilization. */
import type { ApiObject } from '../../exchange/object.ts';

interface Metric {
  type: string;
  resource?: { name: string; target: { type: string; averageUtilization?: number } };
}

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';

const isCpu = (metric: Metric): boolean =>
  metric.type === 'Resource' &&
  metric.resource?.name === 'cpu' &&
  metric.resource.target.averageUtilization !== undefined;

export function autoscalerToStored(given: ApiObject, existing?: ApiObject): ApiObject {
  const { targetCPUUtilizationPercentage, ...spec } = (given['spec'] ?? {}) as Record<string, unknown>;
  const others = ((existing?.['spec'] as { metrics?: Metric[] } | undefined)?.metrics ?? []).filter(
    (metric) => !isCpu(metric),
  );
  const cpu: Metric[] =
    targetCPUUtilizationPercentage === undefined
      ? []
      : [
          {
            type: 'Resource',
            resource: {
              name: 'cpu',
              target: { type: 'Utilization', averageUtilization: targetCPUUtilizationPercentage as number },
            },
          },
        ];
  const metrics = [...cpu, ...others];
  const { currentCPUUtilizationPercentage: _current, ...status } = (given['status'] ?? {}) as Record<string, unknown>;
  const annotations = { ...given.metadata.annotations };
  delete annotations[METRICS];
  return {
    ...given,
    metadata: { ...given.metadata, ...(given.metadata.annotations && { annotations }) },
    spec: { ...spec, ...(metrics.length > 0 && { metrics }) },
    ...(given['status'] !== undefined && { status: { ...(existing?.['status'] as object | undefined), ...status } }),
  };
}

export function autoscalerFromStored(stored: ApiObject): ApiObject {
  const {
    metrics = [],
    behavior: _behavior,
    ...spec
  } = (stored['spec'] ?? {}) as Record<string, unknown> & { metrics?: Metric[] };
  const cpu = metrics.find(isCpu);
  const others = metrics.filter((metric) => metric !== cpu);
  const status = { ...(stored['status'] as Record<string, unknown> | undefined) };
  delete status['currentMetrics'];
  delete status['conditions'];
  return {
    ...stored,
    metadata:
      others.length === 0
        ? stored.metadata
        : { ...stored.metadata, annotations: { ...stored.metadata.annotations, [METRICS]: JSON.stringify(others) } },
    spec: {
      ...spec,
      ...(cpu && { targetCPUUtilizationPercentage: cpu.resource?.target.averageUtilization }),
    },
    status: { currentReplicas: 0, desiredReplicas: 0, ...status },
  };
}
