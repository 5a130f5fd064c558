import type { Node } from '../api/generated/core-v1.ts';
import type { Maintenance } from '../api/quorate/maintenance.ts';
import {
  MAINTENANCE_RIGHTS,
  missingRight,
  validateMaintenance,
  validateMaintenanceUpdate,
} from '../api/quorate/maintenance-validation.ts';
import { overlapWarnings } from '../decisions/maintenance/index.ts';
import type { Client, Clock } from '../machinery/runtime/index.ts';
import { mayDo } from './requester-rights.ts';
import { refuse, refuseInvalid, type ReviewRequest, type ReviewResponse } from './review.ts';

export interface MaintenanceWebhook {
  readonly client: Client;
  readonly clock: Clock;
  readonly maintenances: () => readonly Maintenance[];
  readonly nodes: () => readonly Node[];
  /** Who we are. */
  readonly user: string;
}

/** Checks Maintenances as they are written, and that who makes one may do what it does. */
export async function reviewMaintenance(
  { client, clock, maintenances, nodes, user }: MaintenanceWebhook,
  { object, oldObject, userInfo = {} }: ReviewRequest,
): Promise<ReviewResponse> {
  const maintenance = object as Maintenance;
  const old = oldObject as Maintenance | null | undefined;
  if (!old) {
    for (const { group, plural: resource, subresource, text, verb } of MAINTENANCE_RIGHTS) {
      if (await mayDo(client, userInfo, { group, resource, subresource, verb })) continue;
      const message = missingRight(userInfo.username ?? '', text);
      return refuse({ code: 403, reason: 'Forbidden', message });
    }
  }
  const now = clock.now();
  const isOwn = userInfo.username === user;
  const issues = old
    ? validateMaintenanceUpdate(maintenance, old, now, isOwn)
    : validateMaintenance(maintenance, now, isOwn);
  if (issues.length > 0) return refuseInvalid(issues);
  return { allowed: true, warnings: old ? [] : overlapWarnings(maintenance, maintenances(), nodes()) };
}
