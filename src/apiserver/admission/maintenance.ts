import type { Node } from '../../api/generated/core-v1.ts';
import { type Maintenance, maintenanceType, OBSERVER_USER } from '../../api/quorate/maintenance.ts';
import {
  MAINTENANCE_RIGHTS,
  missingRight,
  validateMaintenance,
  validateMaintenanceUpdate,
} from '../../api/quorate/maintenance-validation.ts';
import { nodeType } from '../../api/resource-types.ts';
import { overlapWarnings } from '../../decisions/maintenance/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../context/admission-plugin.ts';
import type { ServerContext } from '../context/server-context.ts';
import { forbidden, invalid } from '../exchange/status.ts';
import { listStored } from '../stored/kind-view.ts';

/** Checks Maintenances as they are written, and that who makes one may do what it does. */
export function maintenancePlugin(context: ServerContext): AdmissionPlugin {
  return {
    name: 'Maintenance',
    handles: ({ operation, resource, subresource }) =>
      resource.group === maintenanceType.group &&
      resource.plural === maintenanceType.plural &&
      subresource === undefined &&
      (operation === 'CREATE' || operation === 'UPDATE'),
    async validate(attributes) {
      const { name, object, oldObject, resource, user, warnings } = attributes;
      const isOwn = user.username === OBSERVER_USER;
      const maintenance = object as Maintenance;
      const now = context.clock.now();
      if (oldObject === undefined) await checkRights(context, attributes);
      const issues =
        oldObject === undefined
          ? validateMaintenance(maintenance, now, isOwn)
          : validateMaintenanceUpdate(maintenance, oldObject as Maintenance, now, isOwn);
      if (issues.length > 0) throw invalid(resource, name ?? '', issues);
      if (oldObject !== undefined) return;
      const others = listStored<Maintenance>(context, maintenanceType, undefined);
      warnings.push(...overlapWarnings(maintenance, others, listStored<Node>(context, nodeType, undefined)));
    },
  };
}

async function checkRights(context: ServerContext, { name, resource, user }: AdmissionAttributes): Promise<void> {
  for (const { group, plural, subresource, text, verb } of MAINTENANCE_RIGHTS) {
    const asked = { group, version: 'v1', plural, ...(subresource !== undefined && { subresource }) };
    const { allowed } = await context.authorizer.authorize({ user, verb, resource: asked });
    if (!allowed) throw forbidden(resource, name, missingRight(user.username, text));
  }
}
