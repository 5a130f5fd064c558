import type { Pod } from '../../api/generated/core-v1.ts';
import { UNAVAILABLE_LABEL_PREFIX, NO_PROTECT_ANNOTATION } from '../../api/kruise/types.ts';

/** Not finished and not being deleted. */
export function isActive({ metadata, status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed' && !metadata.deletionTimestamp;
}

/** Running, Ready, staying, and not marked unavailable by label. */
export function isReady({ metadata, status }: Pod): boolean {
  return (
    status?.phase === 'Running' &&
    !metadata.deletionTimestamp &&
    (status.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True') &&
    !hasUnavailableLabel(metadata.labels)
  );
}

export function hasUnavailableLabel(labels: Record<string, string> | undefined): boolean {
  return Object.keys(labels ?? {}).some((key) => key.startsWith(UNAVAILABLE_LABEL_PREFIX));
}

const INPLACE_STATE_ANNOTATION = 'apps.kruise.io/inplace-update-state';
const INJECTED_LIST_ANNOTATION = 'kruise.io/sidecarset-injected-list';

/**
 * True when no in-place update is under way. A container pinned by digest must run that very digest; where all are
 * pinned that is the only test, otherwise the in-place state annotation must be complete too. A running image reported
 * as a bare digest says nothing of its repository and is passed over, except in compatibility mode.
 */
export function isConsistent(pod: Pod, { compat = false }: { compat?: boolean } = {}): boolean {
  const running = new Map((pod.status?.containerStatuses ?? []).map((status) => [status.name, status.imageID ?? '']));
  let allPinned = true;
  for (const { name, image = '' } of pod.spec?.containers ?? []) {
    const digest = digestOf(image);
    if (digest === undefined) {
      allPinned = false;
      continue;
    }
    const imageId = running.get(name) ?? '';
    if (imageId.startsWith('sha256:') && !compat) continue;
    if (!imageId.endsWith(`@${digest}`) || repositoryOf(imageId) !== repositoryOf(image)) return false;
  }
  if (allPinned) return true;
  return isInplaceUpdateComplete(pod, running);
}

function isInplaceUpdateComplete(pod: Pod, running: ReadonlyMap<string, string>): boolean {
  const annotations = pod.metadata.annotations ?? {};
  if (annotations[INJECTED_LIST_ANNOTATION] && !sidecarsSettled(pod)) return false;
  const text = annotations[INPLACE_STATE_ANNOTATION];
  if (text === undefined) return true;
  try {
    const state = JSON.parse(text) as { lastContainerStatuses?: Record<string, { imageID?: string }> };
    return Object.entries(state.lastContainerStatuses ?? {}).every(
      ([name, last]) => running.get(name) !== last.imageID,
    );
  } catch {
    return false;
  }
}

/** An injected sidecar has settled once the image it runs is the one its container asks for. */
function sidecarsSettled(pod: Pod): boolean {
  const images = new Map((pod.status?.containerStatuses ?? []).map(({ name, image }) => [name, image]));
  return (pod.spec?.containers ?? [])
    .filter(({ env = [] }) => env.some(({ name, value }) => name === 'IS_INJECTED' && value === 'true'))
    .every(({ name, image }) => images.get(name) === image);
}

function digestOf(image: string): string | undefined {
  const at = image.indexOf('@');
  return at < 0 ? undefined : image.slice(at + 1);
}

function repositoryOf(image: string): string {
  const withoutScheme = image.replace(/^[a-z-]+:\/\//, '');
  return withoutScheme.split('@')[0]?.replace(/:[^/:]*$/, '') ?? '';
}

const TRUE_TEXTS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** The pod asks to be left out of every budget. Text that is no boolean leaves it protected. */
export function isUnprotected({ metadata }: Pod): boolean {
  return TRUE_TEXTS.has(metadata.annotations?.[NO_PROTECT_ANNOTATION] ?? '');
}
