import type { Node } from '../../../api/generated/core-v1.ts';
import { duplicate, FieldPath, type Issue, notSupported, required } from '../../../machinery/values/index.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { ageColumn, NONE, nameColumn, since, text } from '../columns.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export const nodeStrategy = strategyOf<Node>({
  defaults(object) {
    object.spec ??= {};
    if (object.status?.capacity && !object.status.allocatable)
      object.status.allocatable = { ...object.status.capacity };
  },
  validate(object) {
    const path = FieldPath.of('spec', 'taints');
    const issues: Issue[] = [];
    const seen = new Set<string>();
    (object.spec?.taints ?? []).forEach((taint, index) => {
      const at = path.index(index);
      if (!taint.key) issues.push(required(at.child('key')));
      if (!EFFECTS.includes(taint.effect)) issues.push(notSupported(at.child('effect'), taint.effect, EFFECTS));
      const identity = `${taint.key}:${taint.effect}`;
      if (seen.has(identity)) issues.push({ ...duplicate(at, identity) });
      seen.add(identity);
    });
    return issues;
  },
  writesStatus: false,
  fields: (object) => ({ 'spec.unschedulable': String(object.spec?.unschedulable ?? false) }),
  table: {
    columns: [
      nameColumn,
      text('Status', 0, 'Ready or not, and whether new pods are accepted'),
      text('Roles', 0, 'Roles of the node'),
      ageColumn,
      text('Version', 0, 'Version of the kubelet'),
      text('Internal-IP', 1, 'Address inside the cluster'),
      text('External-IP', 1, 'Address outside the cluster'),
      text('OS-Image', 1, 'Operating system'),
      text('Kernel-Version', 1, 'Kernel'),
      text('Container-Runtime', 1, 'Container runtime'),
    ],
    cells(object, now) {
      const info = object.status?.nodeInfo;
      return [
        object.metadata.name ?? '',
        statusOf(object),
        rolesOf(object),
        since(object.metadata.creationTimestamp, now),
        info?.kubeletVersion ?? '',
        addressOf(object, 'InternalIP'),
        addressOf(object, 'ExternalIP'),
        info?.osImage || '<unknown>',
        info?.kernelVersion || '<unknown>',
        info?.containerRuntimeVersion || '<unknown>',
      ];
    },
  },
});

function statusOf(node: Node): string {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const parts = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  if (node.spec?.unschedulable) parts.push('SchedulingDisabled');
  return parts.join(',');
}

function rolesOf({ metadata }: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) return [key.slice(ROLE_PREFIX.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.sort().join(',') || NONE;
}

const addressOf = (node: Node, type: string): string =>
  node.status?.addresses?.find((address) => address.type === type)?.address ?? NONE;
