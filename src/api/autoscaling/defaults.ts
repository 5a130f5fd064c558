import type { HorizontalPodAutoscaler, HPAScalingRules } from '../generated/autoscaling-v2.ts';

const SCALE_UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};

/** No window here: an absent one means the controller's own default. */
const SCALE_DOWN: HPAScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
};

export function defaultHorizontalPodAutoscaler({ spec }: HorizontalPodAutoscaler): void {
  if (spec === undefined) return;
  spec.minReplicas ??= 1;
  if ((spec.metrics ?? []).length === 0) {
    spec.metrics = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
    ];
  }
  if (spec.behavior !== undefined && spec.behavior !== null) {
    spec.behavior.scaleUp = fill(spec.behavior.scaleUp, SCALE_UP);
    spec.behavior.scaleDown = fill(spec.behavior.scaleDown, SCALE_DOWN);
  }
}

/** The rules in force where an object leaves them out. */
export function effectiveRules(rules: HPAScalingRules | undefined, direction: 'up' | 'down'): HPAScalingRules {
  return fill(rules, direction === 'up' ? SCALE_UP : SCALE_DOWN);
}

function fill(rules: HPAScalingRules | undefined, defaults: HPAScalingRules): HPAScalingRules {
  return {
    ...defaults,
    policies: (defaults.policies ?? []).map((policy) => ({ ...policy })),
    ...Object.fromEntries(Object.entries(rules ?? {}).filter(([, value]) => value !== undefined && value !== null)),
  };
}
