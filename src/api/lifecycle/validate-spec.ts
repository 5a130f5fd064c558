import { FieldPath, invalid, type Issue, notSupported, required, semanticEqual } from '../../machinery/values/index.ts';
import type { Eviction, EvictionRequest } from '../generated/lifecycle-v1alpha1.ts';
import { validateForeignKey, validatePodReference } from './keys.ts';
import { INTENTS } from './types.ts';

const SPEC = FieldPath.of('spec');

type Target = { readonly pod?: { readonly name?: string; readonly uid?: string } | null | undefined } | undefined;

export const immutable = (path: FieldPath): Issue => invalid(path, null, 'field is immutable');

/** What is wrong with a request's spec; with `old`, only what changed is looked at. */
export function validateEvictionRequest(request: EvictionRequest, old?: EvictionRequest): Issue[] {
  const spec: Partial<EvictionRequest['spec']> = request.spec ?? {};
  const before: Partial<EvictionRequest['spec']> | undefined = old && (old.spec ?? {});
  const issues = validateTarget(spec?.target, before, before?.target);
  const requester = spec?.requester ?? '';
  if (before !== undefined && requester !== (before.requester ?? '')) {
    issues.push(immutable(SPEC.child('requester')));
  } else if (before === undefined) issues.push(...validateForeignKey(SPEC.child('requester'), requester));
  return [...issues, ...validateIntent(SPEC.child('intent'), spec?.intent)];
}

export function validateEviction({ spec }: Eviction, old?: Eviction): Issue[] {
  return validateTarget(spec?.target, old, old?.spec?.target);
}

export function validateIntent(path: FieldPath, intent: string | undefined): Issue[] {
  if (!intent) return [required(path)];
  return (INTENTS as readonly string[]).includes(intent) ? [] : [notSupported(path, intent, INTENTS)];
}

/** A union of one member so far; all of it stays as it was created. */
function validateTarget(target: Target, old: object | undefined, before: Target): Issue[] {
  const path = SPEC.child('target');
  if (old !== undefined) return semanticEqual(target ?? {}, before ?? {}) ? [] : [immutable(path)];
  const pod = target?.pod;
  if (pod === undefined || pod === null) return [invalid(path, target ?? {}, 'must specify one of: `pod`')];
  return validatePodReference(path.child('pod'), pod);
}
