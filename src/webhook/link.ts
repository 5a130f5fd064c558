/** Pods join the groups that their owners have asked for, as they are made. */
import type { Pod } from '../api/generated/core-v1.ts';
import type { KubeObject } from '../api/resource.ts';
import { MIRROR_PREFIX, readGroupLink } from '../decisions/disruption/index.ts';
import {
  asksForGroups,
  type EnsuredGroup,
  type GroupMaker,
  type MakingVerdict,
  UNREADABLE_GANG,
} from '../decisions/group-making/index.ts';
import { allow, allowWith, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';

export interface LinkWebhook {
  /** Undefined where nothing is served that a pod could name. */
  readonly maker: GroupMaker | undefined;
  readonly verdictOf: (pod: Pod) => Promise<MakingVerdict>;
  /** What became of a pod whose owner asks for groups. */
  readonly linked: (result: LinkResult) => void;
}

export type LinkResult = EnsuredGroup['reason'];

/**
 * Makes the group that a pod's owner has asked for, where it is not there yet, and the pod its member. A pod whose group
 * is on its way out is refused, so that its controller tries again and finds the next one; one that no group can be made
 * for passes as it is.
 */
export async function reviewLink(webhook: LinkWebhook, request: ReviewRequest): Promise<ReviewResponse> {
  const { maker } = webhook;
  const pod = podOf(request);
  if (maker === undefined || pod === undefined || readGroupLink(pod) !== undefined) return allow;
  const verdict = await webhook.verdictOf(pod);
  if (verdict.reason !== 'Wanted') return allow;
  const ensured = await maker.ensure(verdict, { dryRun: request.dryRun });
  webhook.linked(ensured.reason);
  switch (ensured.reason) {
    case 'Ready': {
      const named = linkPatch(pod, ensured.name, maker.keepsField);
      return allowWith([...named, ...schedulerPatch(verdict.schedulerName)]);
    }
    case 'Going': {
      const message = `PodGroup ${ensured.name} is being deleted: pods join its successor, once it is gone`;
      return refuse({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds: 1 } });
    }
    case 'Refused':
      return { ...allow, warnings: [`no group could be made for this pod: ${ensured.message}`] };
    case 'MadeByOthers':
    case 'NameTaken':
    case 'StartedWithout':
      return allow;
  }
}

/** A pod under review has no name yet where its controller leaves that to the API server. */
function podOf({ namespace, object }: ReviewRequest): Pod | undefined {
  if (!object) return undefined;
  const { metadata, ...rest } = object as Pod;
  return { ...rest, metadata: { ...metadata, namespace } };
}

interface PatchStep {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

const ANNOTATION = `${MIRROR_PREFIX}schedulingGroup`;

function linkPatch({ metadata }: Pod, podGroupName: string, keepsField: boolean): PatchStep[] {
  if (keepsField) return [{ op: 'add', path: '/spec/schedulingGroup', value: { podGroupName } }];
  const value = JSON.stringify({ podGroupName });
  if (metadata.annotations === undefined) {
    return [{ op: 'add', path: '/metadata/annotations', value: { [ANNOTATION]: value } }];
  }
  return [{ op: 'add', path: `/metadata/annotations/${ANNOTATION.replace('/', '~1')}`, value }];
}

function schedulerPatch(name: string | undefined): PatchStep[] {
  return name === undefined ? [] : [{ op: 'add', path: '/spec/schedulerName', value: name }];
}

export interface OwnersWebhook {
  /** Sees to it that pods of a namespace are asked about, and that every API server has learned it. */
  readonly expect: (namespace: string, signal: AbortSignal) => Promise<void>;
}

/** Somebody who asks for groups is about to be there: its pods, which follow at once, must be asked about by then. */
export async function reviewOwner(
  { expect }: OwnersWebhook,
  { dryRun, namespace, object, operation }: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse> {
  if (!object || operation !== 'CREATE') return allow;
  const { asks, unreadable } = asksForGroups(object as KubeObject);
  if (unreadable) return { ...allow, warnings: [UNREADABLE_GANG] };
  if (asks && dryRun !== true) await expect(namespace ?? '', signal);
  return allow;
}
