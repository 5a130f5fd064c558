import { deepClone, deepEqual } from '../../machinery/values/index.ts';
import {
  HUB_SPEC_ANNOTATION,
  OPERATIONS_ANNOTATION,
  PROTECTED_OPERATIONS,
  type PodUnavailableBudget,
  type PodUnavailableBudgetSpec,
  TOTAL_REPLICAS_ANNOTATION,
} from './types.ts';

/** A v1alpha1 object that has no v1beta1 meaning. */
export class ConversionError extends Error {
  override name = 'ConversionError';
}

type TypedOnly = Pick<PodUnavailableBudgetSpec, 'ignoredPodSelector' | 'capacityPolicy'>;

/**
 * v1alpha1 spells `protectOperations` and `protectTotalReplicas` as annotations and has no `ignoredPodSelector`. What
 * it cannot spell travels in one JSON annotation, so that reading and writing back in v1alpha1 loses nothing.
 */
export function fromV1alpha1(object: PodUnavailableBudget): PodUnavailableBudget {
  const hub = deepClone(object);
  const annotations = hub.metadata.annotations ?? {};
  const spec: PodUnavailableBudgetSpec = { ...hub.spec };
  const operations = annotations[OPERATIONS_ANNOTATION];
  if (operations !== undefined && operations !== '' && (spec.protectOperations ?? []).length === 0) {
    spec.protectOperations = parseOperations(operations);
  }
  const total = annotations[TOTAL_REPLICAS_ANNOTATION];
  if (total !== undefined && spec.protectTotalReplicas === undefined) {
    if (!isInt32(total)) {
      throw new ConversionError(
        `metadata.annotations[${TOTAL_REPLICAS_ANNOTATION}]: Invalid value: ${JSON.stringify(total)}: must be a valid int32`,
      );
    }
    spec.protectTotalReplicas = Number(total);
  }
  const kept = annotations[HUB_SPEC_ANNOTATION];
  if (kept !== undefined) {
    const { capacityPolicy, ignoredPodSelector } = parseKept(kept);
    if (ignoredPodSelector !== undefined) spec.ignoredPodSelector ??= ignoredPodSelector;
    if (capacityPolicy !== undefined) spec.capacityPolicy ??= capacityPolicy;
    delete annotations[HUB_SPEC_ANNOTATION];
    if (Object.keys(annotations).length === 0) delete hub.metadata.annotations;
  }
  hub.spec = spec;
  hub.apiVersion = 'policy.kruise.io/v1beta1';
  return hub;
}

/** `lossy`: what v1alpha1 cannot spell is left out, as OpenKruise does; writing it back then loses it. */
export function toV1alpha1(object: PodUnavailableBudget, { lossy = false } = {}): PodUnavailableBudget {
  const old = deepClone(object);
  const { protectOperations, protectTotalReplicas, capacityPolicy, ignoredPodSelector, ...spec } = old.spec ?? {};
  const annotations: Record<string, string> = { ...old.metadata.annotations };
  setOrDelete(annotations, OPERATIONS_ANNOTATION, protectOperations?.length ? protectOperations.join(',') : undefined);
  setOrDelete(annotations, TOTAL_REPLICAS_ANNOTATION, protectTotalReplicas?.toString());
  const untold: TypedOnly = {
    ...(ignoredPodSelector !== undefined && { ignoredPodSelector }),
    ...(capacityPolicy !== undefined && { capacityPolicy }),
  };
  const kept = Object.keys(untold).length === 0 || lossy ? undefined : JSON.stringify(untold);
  setOrDelete(annotations, HUB_SPEC_ANNOTATION, kept);
  if (Object.keys(annotations).length > 0) old.metadata.annotations = annotations;
  else delete old.metadata.annotations;
  old.spec = spec;
  old.apiVersion = 'policy.kruise.io/v1alpha1';
  return old;
}

function parseOperations(text: string): string[] {
  const words = text.split(',').map((word) => word.trim());
  for (const word of words) {
    if (!(PROTECTED_OPERATIONS as readonly string[]).includes(word)) {
      throw new ConversionError(
        `metadata.annotations[${OPERATIONS_ANNOTATION}]: Unsupported value: ${JSON.stringify(word)}: supported values: ${PROTECTED_OPERATIONS.map((operation) => JSON.stringify(operation)).join(', ')}`,
      );
    }
  }
  return words;
}

function parseKept(text: string): TypedOnly {
  try {
    return JSON.parse(text) as TypedOnly;
  } catch (cause) {
    throw new ConversionError(`metadata.annotations[${HUB_SPEC_ANNOTATION}]: Invalid value: must be JSON`, { cause });
  }
}

export function isInt32(text: string): boolean {
  return /^[+-]?\d+$/.test(text) && Math.abs(Number(text)) <= 2_147_483_647;
}

function setOrDelete(target: Record<string, string>, key: string, value: string | undefined): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

/** True when two spec parts that may not change are the same. */
export function isSameTarget(
  a: PodUnavailableBudgetSpec | undefined,
  b: PodUnavailableBudgetSpec | undefined,
): boolean {
  return deepEqual(a?.selector, b?.selector) && deepEqual(a?.targetRef, b?.targetRef);
}
