import { defaultHorizontalPodAutoscaler, validateHorizontalPodAutoscaler } from '../../../api/autoscaling/index.ts';
import type { HorizontalPodAutoscaler, MetricSpec } from '../../../api/generated/autoscaling-v2.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { ageColumn, integer, nameColumn, since, text } from '../columns.ts';

const asAutoscaler = (object: ApiObject): HorizontalPodAutoscaler => object as unknown as HorizontalPodAutoscaler;

export const horizontalPodAutoscalerStrategy: Strategy = {
  defaults: (object) => defaultHorizontalPodAutoscaler(asAutoscaler(object)),
  prepareForCreate(object) {
    object['status'] = { desiredReplicas: 0 };
  },
  validate: (object) => validateHorizontalPodAutoscaler(asAutoscaler(object)),
  validateUpdate: (object) => validateHorizontalPodAutoscaler(asAutoscaler(object)),
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
      const { metadata, spec, status } = asAutoscaler(object);
      const { kind = '', name = '' } = spec?.scaleTargetRef ?? {};
      return [
        metadata.name ?? '',
        `${kind}/${name}`,
        targetsOf(asAutoscaler(object)),
        String(spec?.minReplicas ?? '<unset>'),
        spec?.maxReplicas ?? 0,
        status?.currentReplicas ?? 0,
        since(metadata.creationTimestamp, now),
      ];
    },
  },
};

function targetsOf({ spec, status }: HorizontalPodAutoscaler): string {
  const shown = (spec?.metrics ?? []).map((metric, index) => {
    const target = sourceOf(metric)?.target;
    const current = status?.currentMetrics?.[index];
    const now = current?.resource?.current ?? current?.containerResource?.current;
    const name = sourceOf(metric)?.name ?? metric.type;
    if (target?.averageUtilization !== undefined) {
      return `${name}: ${now?.averageUtilization === undefined ? '<unknown>' : `${now.averageUtilization}%`}/${target.averageUtilization}%`;
    }
    return `${name}: ${now?.averageValue ?? '<unknown>'}/${target?.averageValue ?? '<unknown>'}`;
  });
  return shown.length === 0 ? '<none>' : shown.join(', ');
}

const sourceOf = ({ containerResource, resource }: MetricSpec) => resource ?? containerResource;
