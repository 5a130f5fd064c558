/** What an eviction is pinned to, so that it can hit nothing but the pod that was judged. */
import type { OwnerReference } from '../api/generated/meta-v1.ts';
import { splitApiVersion } from '../api/resource.ts';
import type { ReviewRequest } from './review.ts';

export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

interface DeleteOptions {
  readonly dryRun?: readonly string[];
  readonly preconditions?: Preconditions | null;
}

interface PatchStep {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

const optionsOf = ({ object }: ReviewRequest): DeleteOptions | undefined =>
  (object?.['deleteOptions'] as DeleteOptions | null | undefined) ?? undefined;

/** In the query, which the API server tells us of, or in the body. */
export function isDryRun(request: ReviewRequest): boolean {
  return request.dryRun === true || (optionsOf(request)?.dryRun?.length ?? 0) > 0;
}

export function preconditionsOf(request: ReviewRequest): Preconditions {
  return optionsOf(request)?.preconditions ?? {};
}

/** Controllers that give every pod a name of its own, by API group. */
const FRESH_NAMES = new Map([
  ['apps', new Set(['ReplicaSet', 'DaemonSet'])],
  ['', new Set(['ReplicationController'])],
  ['batch', new Set(['Job'])],
]);

/** Whether another pod of the same name may follow this one; unknown controllers and bare pods may make one. */
export function canNameReturn(owner: OwnerReference | undefined): boolean {
  if (owner === undefined) return true;
  const { group } = splitApiVersion(owner.apiVersion);
  return FRESH_NAMES.get(group)?.has(owner.kind) !== true;
}

/** The steps that add these preconditions to an eviction; what its client asked for stays as it is. */
export function pinPatch(request: ReviewRequest, { resourceVersion, uid }: Preconditions): PatchStep[] {
  const given = preconditionsOf(request);
  const added: Preconditions = {
    ...(uid !== undefined && !given.uid && { uid }),
    ...(resourceVersion !== undefined && !given.resourceVersion && { resourceVersion }),
  };
  const keys = Object.entries(added);
  if (keys.length === 0) return [];
  const options = optionsOf(request);
  if (options === undefined) return [{ op: 'add', path: '/deleteOptions', value: { preconditions: added } }];
  if (!options.preconditions) return [{ op: 'add', path: '/deleteOptions/preconditions', value: added }];
  return keys.map(([key, value]) => ({ op: 'add', path: `/deleteOptions/preconditions/${key}`, value }));
}
