import {
  checkPathSegment,
  FieldPath,
  forbidden,
  invalid,
  type Issue,
  notSupported,
  parseNanos,
  required,
  validateName,
} from '../../machinery/values/index.ts';
import type {
  HorizontalPodAutoscaler,
  HPAScalingRules,
  MetricSpec,
  MetricTarget,
} from '../generated/autoscaling-v2.ts';

const SPEC = FieldPath.of('spec');
const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;
const SOURCES = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
} as const;
type SourceType = keyof typeof SOURCES;

/** Takes a defaulted HorizontalPodAutoscaler. */
export function validateHorizontalPodAutoscaler({ spec }: HorizontalPodAutoscaler): Issue[] {
  if (spec === undefined) return [required(SPEC)];
  const { behavior, maxReplicas, metrics = [], minReplicas = 1, scaleTargetRef } = spec;
  const issues: Issue[] = [];
  if (minReplicas < 1) {
    issues.push(invalid(SPEC.child('minReplicas'), minReplicas, 'must be greater than or equal to 1'));
  }
  if ((maxReplicas ?? 0) < 1)
    issues.push(invalid(SPEC.child('maxReplicas'), maxReplicas ?? 0, 'must be greater than 0'));
  else if (maxReplicas < minReplicas) {
    issues.push(invalid(SPEC.child('maxReplicas'), maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  for (const field of ['kind', 'name'] as const) {
    const value = scaleTargetRef?.[field];
    const path = SPEC.child('scaleTargetRef', field);
    issues.push(...(value ? validateName(path, value, checkPathSegment) : [required(path)]));
  }
  metrics.forEach((metric, index) => {
    issues.push(...validateMetric(metric, SPEC.child('metrics').index(index)));
  });
  issues.push(...validateRules(behavior?.scaleUp, SPEC.child('behavior', 'scaleUp')));
  issues.push(...validateRules(behavior?.scaleDown, SPEC.child('behavior', 'scaleDown')));
  return issues;
}

function validateMetric(metric: MetricSpec, path: FieldPath): Issue[] {
  const types = Object.keys(SOURCES) as SourceType[];
  if (!metric.type) return [required(path.child('type'), 'must specify a metric source type')];
  if (!types.includes(metric.type as SourceType)) return [notSupported(path.child('type'), metric.type, types)];
  const issues: Issue[] = [];
  for (const type of types) {
    const field = SOURCES[type];
    const present = metric[field] !== undefined && metric[field] !== null;
    if (type === metric.type && !present) {
      issues.push(required(path.child(field), 'must populate information for the given metric source'));
    } else if (type !== metric.type && present) {
      issues.push(forbidden(path.child(field), 'must populate the given metric source only'));
    }
  }
  const { containerResource, resource } = metric;
  if (resource !== undefined && resource !== null) issues.push(...validateResource(resource, path.child('resource')));
  if (containerResource !== undefined && containerResource !== null) {
    const at = path.child('containerResource');
    if (!containerResource.container) issues.push(required(at.child('container'), 'must specify a container'));
    issues.push(...validateResource(containerResource, at));
  }
  for (const [field, source] of [
    ['pods', metric.pods],
    ['external', metric.external],
    ['object', metric.object],
  ] as const) {
    if (source === undefined || source === null) continue;
    if (!source.metric?.name) issues.push(required(path.child(field, 'metric', 'name'), 'must specify a metric name'));
    issues.push(...validateTarget(source.target, path.child(field, 'target')));
  }
  return [...issues, ...validateAmounts(metric, path)];
}

/** Which of the two values a target may have depends on what is measured. */
function validateAmounts({ external, object, pods }: MetricSpec, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  const average = (field: string): FieldPath => path.child(field, 'target', 'averageValue');
  if (pods && pods.target?.averageValue === undefined) {
    issues.push(required(average('pods'), 'must specify a positive target averageValue'));
  }
  if (object) {
    for (const field of ['kind', 'name'] as const) {
      const value = object.describedObject?.[field];
      const at = path.child('object', 'describedObject', field);
      issues.push(...(value ? validateName(at, value, checkPathSegment) : [required(at)]));
    }
    if (object.target?.value === undefined && object.target?.averageValue === undefined) {
      issues.push(required(average('object'), 'must set either a target value or averageValue'));
    }
  }
  if (external) {
    const { averageValue, value } = external.target ?? {};
    if (value === undefined && averageValue === undefined) {
      issues.push(required(average('external'), 'must set either a target value for metric or a per-pod target'));
    } else if (value !== undefined && averageValue !== undefined) {
      const at = path.child('external', 'target', 'value');
      issues.push(forbidden(at, 'may not set both a target value for metric and a per-pod target'));
    }
  }
  return issues;
}

function validateResource({ name, target }: { name: string; target: MetricTarget }, path: FieldPath): Issue[] {
  const issues = name ? [] : [required(path.child('name'), 'must specify a resource name')];
  const at = path.child('target');
  issues.push(...validateTarget(target, at));
  const { averageUtilization, averageValue } = target ?? {};
  if (averageUtilization === undefined && averageValue === undefined) {
    issues.push(required(at.child('averageUtilization'), 'must set either a target raw value or a target utilization'));
  } else if (averageUtilization !== undefined && averageValue !== undefined) {
    issues.push(forbidden(at.child('averageValue'), 'may not set both a target raw value and a target utilization'));
  }
  return issues;
}

function validateTarget(target: MetricTarget | undefined, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  const { averageUtilization, averageValue, type, value } = target ?? { type: '' };
  if (!type) issues.push(required(path.child('type'), 'must specify a metric target type'));
  else if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    issues.push(invalid(path.child('type'), type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const [field, quantity] of [
    ['value', value],
    ['averageValue', averageValue],
  ] as const) {
    if (quantity !== undefined && parseNanos(quantity) <= 0n) {
      issues.push(invalid(path.child(field), quantity, 'must be positive'));
    }
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    issues.push(invalid(path.child('averageUtilization'), averageUtilization, 'must be greater than 0'));
  }
  return issues;
}

function validateRules(rules: HPAScalingRules | undefined, path: FieldPath): Issue[] {
  if (rules === undefined || rules === null) return [];
  const issues: Issue[] = [];
  const { policies = [], selectPolicy, stabilizationWindowSeconds: window = 0, tolerance } = rules;
  const windowPath = path.child('stabilizationWindowSeconds');
  if (window < 0) issues.push(invalid(windowPath, window, 'must be greater than or equal to zero'));
  if (window > MAX_WINDOW_SECONDS) {
    issues.push(invalid(windowPath, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`));
  }
  if (tolerance !== undefined && parseNanos(tolerance) < 0n) {
    issues.push(invalid(path.child('tolerance'), tolerance, 'must be greater than or equal to 0'));
  }
  if (selectPolicy !== undefined && !['Disabled', 'Max', 'Min'].includes(selectPolicy)) {
    issues.push(notSupported(path.child('selectPolicy'), selectPolicy, ['Disabled', 'Max', 'Min']));
  }
  if (policies.length === 0) issues.push(required(path.child('policies'), 'must specify at least one Policy'));
  policies.forEach(({ periodSeconds, type, value }, index) => {
    const at = path.child('policies').index(index);
    if (type !== 'Pods' && type !== 'Percent') {
      issues.push(notSupported(at.child('type'), type, ['Percent', 'Pods']));
    }
    if (value <= 0) issues.push(invalid(at.child('value'), value, 'must be greater than zero'));
    if (periodSeconds <= 0) issues.push(invalid(at.child('periodSeconds'), periodSeconds, 'must be greater than zero'));
    if (periodSeconds > MAX_PERIOD_SECONDS) {
      issues.push(
        invalid(at.child('periodSeconds'), periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`),
      );
    }
  });
  return issues;
}
