import { defaultHorizontalPodAutoscaler, validateHorizontalPodAutoscaler } from '../../../api/autoscaling/index.ts';
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from '../../../api/generated/autoscaling-v2.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { ageColumn, integer, nameColumn, since, text } from '../columns.ts';

export const horizontalPodAutoscalerStrategy = strategyOf<HorizontalPodAutoscaler>({
  defaults: (object) => defaultHorizontalPodAutoscaler(object),
  prepareForCreate(object) {
    object['status'] = { desiredReplicas: 0 };
  },
  validate: (object) => validateHorizontalPodAutoscaler(object),
  validateUpdate: (object) => validateHorizontalPodAutoscaler(object),
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      text('Reference', 0, 'What is scaled'),
      text('Targets', 0, 'Measured use, of what is aimed at'),
      text('MinPods', 0, 'Fewest pods'),
      integer('MaxPods', 0, 'Most pods'),
      integer('Replicas', 0, 'Pods at present'),
      ageColumn,
    ],
    cells(object, now) {
      const { metadata, spec, status } = object;
      const { kind = '', name = '' } = spec?.scaleTargetRef ?? {};
      return [
        metadata.name ?? '',
        `${kind}/${name}`,
        targetsOf(object),
        String(spec?.minReplicas ?? '<unset>'),
        spec?.maxReplicas ?? 0,
        status?.currentReplicas ?? 0,
        since(metadata.creationTimestamp, now),
      ];
    },
  },
});

const SHOWN_METRICS = 2;

function targetsOf({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec?.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const shown = metrics
    .slice(0, SHOWN_METRICS)
    .map((metric, index) => targetOf(metric, status?.currentMetrics?.[index]))
    .join(', ');
  const more = metrics.length - SHOWN_METRICS;
  return more > 0 ? `${shown} + ${more} more...` : shown;
}

function targetOf(metric: MetricSpec, status: MetricStatus | undefined): string {
  const named = metric.resource ?? metric.containerResource;
  const target = (named ?? metric.pods ?? metric.object ?? metric.external)?.target;
  const source = status?.resource ?? status?.containerResource ?? status?.pods ?? status?.object ?? status?.external;
  const current = source?.current;
  const [now, aim] =
    target?.averageUtilization !== undefined
      ? [current?.averageUtilization, `${target.averageUtilization}%`]
      : target?.averageValue !== undefined
        ? [current?.averageValue, target.averageValue]
        : [current?.value, target?.value];
  const percent = target?.averageUtilization === undefined ? '' : '%';
  const pair = `${now === undefined ? '<unknown>' : `${now}${percent}`}/${aim ?? '<auto>'}`;
  if (named !== undefined) return `${named.name}: ${pair}`;
  return metric.pods === undefined && target?.averageValue !== undefined ? `${pair} (avg)` : pair;
}
