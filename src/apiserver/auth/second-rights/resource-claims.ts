/**
 * The status of a resource claim has two owners. Allocation and reservation take the right to `resourceclaims/binding`;
 * what a driver says of its devices takes `resourceclaims/driver` for that driver, with a verb that tells whether the
 * driver runs on the node of the claim.
 */
import type { AllocatedDeviceStatus, ResourceClaimStatus } from '../../../api/generated/resource-v1.ts';
import { FieldPath, forbidden, isObject, type Issue, semanticEqual } from '../../../machinery/values/index.ts';
import type { Authorizer } from '../../access/access.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../context/admission-plugin.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { invalid } from '../../exchange/status.ts';
import { serviceAccountOf } from '../impersonation.ts';

const GROUP = 'resource.k8s.io';
const NODE_NAME = 'authentication.kubernetes.io/node-name';

const statusOf = (object: ApiObject | undefined): ResourceClaimStatus =>
  isObject(object?.['status']) ? (object['status'] as ResourceClaimStatus) : {};

export function resourceClaimStatus(authorizer: Authorizer): AdmissionPlugin {
  const mayAny = async (
    { namespace, user, version }: AdmissionAttributes,
    verbs: readonly string[],
    target: { subresource: string; name?: string; everywhere?: boolean },
  ): Promise<boolean> => {
    const { everywhere, ...rest } = target;
    const resource = {
      group: GROUP,
      version,
      plural: 'resourceclaims',
      ...rest,
      ...(namespace !== undefined && !everywhere && { namespace }),
    };
    for (const verb of verbs) if ((await authorizer.authorize({ user, verb, resource })).allowed) return true;
    return false;
  };

  return {
    name: 'ResourceClaimStatus',
    handles: ({ operation, resource, subresource }) =>
      resource.group === GROUP &&
      resource.plural === 'resourceclaims' &&
      subresource === 'status' &&
      operation === 'UPDATE',
    async validate(attributes) {
      const [now, before] = [statusOf(attributes.object), statusOf(attributes.oldObject)];
      const verb = attributes.options['kind'] === 'PatchOptions' ? 'patch' : 'update';
      const issues: Issue[] = [];
      const isBound =
        semanticEqual(now.allocation, before.allocation) && semanticEqual(now.reservedFor, before.reservedFor);
      if (!isBound && !(await mayAny(attributes, [verb], { subresource: 'binding', everywhere: true }))) {
        const why = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`;
        issues.push(forbidden(FieldPath.of('status', 'allocation'), why));
      }
      const node = isOnNodeOf(attributes, now) ? [`associated-node:${verb}`] : [];
      const verbs = [...node, `arbitrary-node:${verb}`];
      for (const name of changedDrivers(now, before)) {
        if (await mayAny(attributes, verbs, { subresource: 'driver', name })) continue;
        const why = `changing status.devices requires resource="resourceclaims/driver", verb="${verbs.join('" or "')}" permission for "${name}"`;
        issues.push(forbidden(FieldPath.of('status', 'devices'), why));
      }
      if (issues.length > 0) throw invalid(attributes.resource, attributes.name ?? '', issues);
    },
  };
}

const devicesOf = (status: ResourceClaimStatus): AllocatedDeviceStatus[] =>
  Array.isArray(status.devices) ? status.devices : [];
const keyOf = ({ device, driver, pool, shareID }: AllocatedDeviceStatus): string =>
  JSON.stringify([driver, pool, device, shareID ?? '']);

function changedDrivers(now: ResourceClaimStatus, before: ResourceClaimStatus): string[] {
  const left = new Map(devicesOf(before).map((device) => [keyOf(device), device]));
  const drivers = new Set<string>();
  for (const device of devicesOf(now)) {
    const old = left.get(keyOf(device));
    left.delete(keyOf(device));
    if (old === undefined || !semanticEqual(old, device)) drivers.add(device.driver);
  }
  for (const device of left.values()) drivers.add(device.driver);
  return [...drivers].sort();
}

/** A service account whose token is bound to the one node that the claim is allocated on. */
function isOnNodeOf({ user }: AdmissionAttributes, { allocation }: ResourceClaimStatus): boolean {
  const terms = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const fields = terms[0]?.matchFields ?? [];
  const [field] = fields;
  if (terms.length !== 1 || fields.length !== 1 || (terms[0]?.matchExpressions ?? []).length > 0) return false;
  if (field?.key !== 'metadata.name' || field.operator !== 'In' || field.values?.length !== 1) return false;
  const nodes = user.extra?.[NODE_NAME] ?? [];
  return serviceAccountOf(user.username) !== undefined && nodes.length === 1 && nodes[0] === field.values[0];
}
