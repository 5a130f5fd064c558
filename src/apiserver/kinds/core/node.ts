import type { Node } from '../../../api/generated/core-v1.ts';
import { duplicate, FieldPath, type Issue, notSupported, required } from '../../../machinery/values/index.ts';
import { ageColumn, nameColumn, NONE, table, text, wide } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { settlePodCidrs, validateNodeUpdate, validatePodCidrs } from './node-cidrs.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const UNKNOWN = '<unknown>';

export const nodeStrategy = strategyOf<Node>({
  defaults(object) {
    object.spec ??= {};
    if (object.status?.capacity && !object.status.allocatable)
      object.status.allocatable = { ...object.status.capacity };
    settlePodCidrs(object);
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
    return [...issues, ...validatePodCidrs(object)];
  },
  validateUpdate: validateNodeUpdate,
  writesStatus: false,
  fields: (object) => ({ 'spec.unschedulable': String(object.spec?.unschedulable ?? false) }),
  table: table([
    nameColumn,
    text('Status', 'Ready or not, and whether new pods are accepted', statusOf),
    text('Roles', 'Roles of the node', rolesOf),
    ageColumn,
    text('Version', 'Version of the kubelet', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
    wide(text('Internal-IP', 'Address inside the cluster', (node) => addressOf(node, 'InternalIP'))),
    wide(text('External-IP', 'Address outside the cluster', (node) => addressOf(node, 'ExternalIP'))),
    wide(text('OS-Image', 'Operating system', ({ status }) => status?.nodeInfo?.osImage || UNKNOWN)),
    wide(text('Kernel-Version', 'Kernel', ({ status }) => status?.nodeInfo?.kernelVersion || UNKNOWN)),
    wide(
      text(
        'Container-Runtime',
        'Container runtime',
        ({ status }) => status?.nodeInfo?.containerRuntimeVersion || UNKNOWN,
      ),
    ),
  ]),
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
