import {
  FieldPath,
  invalid,
  type Issue,
  notSupported,
  parsePercent,
  required,
  semanticEqual,
} from '../../machinery/values/index.ts';
import type { DaemonSet, DaemonSetUpdateStrategy } from '../generated/apps-v1.ts';
import { collisionsOnlyGrow, nonNegative, positiveIntOrPercent, type TemplateCheck } from './replicas-validation.ts';
import { validateSetSelector } from './set-selector.ts';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');

/** Defaults of the kind itself; those of the pod template are the pod's. */
export function defaultDaemonSet({ spec }: DaemonSet): void {
  if (spec === undefined) return;
  spec.updateStrategy ??= {};
  spec.updateStrategy.type ||= 'RollingUpdate';
  if (spec.updateStrategy.type === 'RollingUpdate') {
    spec.updateStrategy.rollingUpdate ??= {};
    spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
    spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
}

/** Takes a defaulted DaemonSet. */
export function validateDaemonSet({ spec }: DaemonSet, check: TemplateCheck): Issue[] {
  if (spec === undefined) return [required(SPEC)];
  return [
    ...validateSetSelector(spec.selector, spec.template, {
      kind: 'DaemonSet',
      emptyText: 'empty selector is invalid for daemonset',
      check,
    }),
    ...nonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    ...validateStrategy(spec.updateStrategy ?? {}),
    ...nonNegative(spec.revisionHistoryLimit, SPEC.child('revisionHistoryLimit')),
  ];
}

const isZero = (value: number | string | undefined): boolean => value === undefined || value === 0 || value === '0%';

function validateStrategy(strategy: DaemonSetUpdateStrategy): Issue[] {
  const path = SPEC.child('updateStrategy');
  if (strategy.type === 'OnDelete') return [];
  if (strategy.type !== 'RollingUpdate') return [notSupported(path, strategy, ['RollingUpdate', 'OnDelete'])];
  const at = path.child('rollingUpdate');
  const { maxSurge, maxUnavailable } = strategy.rollingUpdate ?? {};
  const issues = [
    ...positiveIntOrPercent(maxUnavailable, at.child('maxUnavailable')),
    ...positiveIntOrPercent(maxSurge, at.child('maxSurge')),
  ];
  for (const [name, value] of [
    ['maxUnavailable', maxUnavailable],
    ['maxSurge', maxSurge],
  ] as const) {
    if (value !== undefined && (parsePercent(value) ?? 0) > 100) {
      issues.push(invalid(at.child(name), value, 'must not be greater than 100%'));
    }
  }
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    issues.push(required(at.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0'));
  }
  if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
    issues.push(invalid(at.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  return issues;
}

export function validateDaemonSetUpdate(update: DaemonSet, old: DaemonSet, check: TemplateCheck): Issue[] {
  const issues = validateDaemonSet(update, check);
  if (!semanticEqual(update.spec?.selector, old.spec?.selector)) {
    issues.push(invalid(SPEC.child('selector'), update.spec?.selector, 'field is immutable'));
  }
  return issues;
}

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;

export function validateDaemonSetStatus({ status }: DaemonSet, old: DaemonSet): Issue[] {
  const issues = COUNTS.flatMap((name) => nonNegative(status?.[name], STATUS.child(name)));
  return [...issues, ...collisionsOnlyGrow(status, old.status)];
}

const GENERATION = 'deprecated.daemonset.template.generation';

/** Counts the changes of the template in the annotation that old clients read it from. */
export function countTemplateGeneration(set: DaemonSet, old: DaemonSet | undefined): void {
  const before = old?.metadata.annotations?.[GENERATION];
  const changed = old !== undefined && !semanticEqual(set.spec?.template, old.spec?.template);
  const generation = old === undefined ? 1 : Number(before ?? '0') + (changed ? 1 : 0);
  if (generation > 0) set.metadata.annotations = { ...set.metadata.annotations, [GENERATION]: String(generation) };
}
