import { defaultHorizontalPodAutoscaler, validateHorizontalPodAutoscaler } from '../../../api/autoscaling/index.ts';
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from '../../../api/generated/autoscaling-v2.ts';
import { ageColumn, integer, nameColumn, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

export const horizontalPodAutoscalerStrategy = strategyOf<HorizontalPodAutoscaler>({
  defaults: (object) => defaultHorizontalPodAutoscaler(object),
  prepareForCreate(object) {
    object['status'] = { desiredReplicas: 0 };
  },
  validate: (object) => validateHorizontalPodAutoscaler(object),
  validateUpdate: (object) => validateHorizontalPodAutoscaler(object),
  generation: 'spec',
  table: table([
    nameColumn,
    text(
      'Reference',
      'What is scaled',
      ({ spec: { scaleTargetRef: { kind = '', name = '' } = {} } = {} }) => `${kind}/${name}`,
    ),
    text('Targets', 'Measured use, of what is aimed at', targetsOf),
    text('MinPods', 'Fewest pods', ({ spec }) => String(spec?.minReplicas ?? '<unset>')),
    integer('MaxPods', 'Most pods', ({ spec }) => spec?.maxReplicas ?? 0),
    integer('Replicas', 'Pods at present', ({ status }) => status?.currentReplicas ?? 0),
    ageColumn,
  ]),
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
