import { POWER, SIMULATED } from '../../nodes/index.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../api/scheduling/index.ts';
import { type Client, isAlreadyExists } from '../../machinery/runtime/index.ts';
import { type Snapshot, SNAPSHOT_KINDS } from '../snapshot/index.ts';

type Fields = Record<string, unknown>;
type Loaded = KubeObject & { spec?: Fields; status?: Fields };

/** On a pod whose controller is of a kind that is not played here: it is made again as it was when it goes. */
export const STAND_IN = 'simulate.quorate.dev/stand-in';

/**
 * Puts a snapshot into an empty plane before its controllers start, so that they find everything in place. Answers what
 * could not be loaded, one line each.
 */
export async function loadSnapshot(client: Client, snapshot: Snapshot): Promise<string[]> {
  const problems: string[] = [];
  const uids = new Map<string, string>();
  const classes = new Set(
    snapshot.objects.filter(({ kind }) => kind === 'PriorityClass').map(({ metadata }) => metadata.name),
  );
  for (const { name: kind, types } of SNAPSHOT_KINDS) {
    for (const object of snapshot.objects as readonly Loaded[]) {
      if (object.kind !== kind || isGone(object)) continue;
      const from = types.find((one) => apiVersionOf(one) === object.apiVersion) ?? types[0];
      if (from === undefined) continue;
      // Where a cluster has groups by our definitions, the plane has them natively.
      const type = from.group === OWN_SCHEDULING_GROUP ? { ...from, group: SCHEDULING_GROUP } : from;
      try {
        const uid = await loadOne(client, type, {
          ...prepare(object, { uids, classes }),
          apiVersion: apiVersionOf(type),
        });
        if (object.metadata.uid !== undefined) uids.set(object.metadata.uid, uid);
      } catch (error) {
        if (isAlreadyExists(error)) continue;
        const { name = '', namespace } = object.metadata;
        problems.push(`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}: ${(error as Error).message}`);
      }
    }
  }
  return problems;
}

async function loadOne(client: Client, type: ResourceType, object: Loaded): Promise<string> {
  const { status, ...rest } = object;
  const created = await client.create(type, rest);
  if (type.kind === 'Node') {
    const { allocatable, capacity } = status ?? {};
    const key = { name: object.metadata.name ?? '' };
    const body = { status: { allocatable, capacity } };
    await client.patch(type, key, { type: 'merge', body }, { subresource: 'status' });
  }
  return created.metadata.uid ?? '';
}

/** Finished pods hold nothing up, and those on their way out would be gone by now. */
function isGone({ kind, metadata, status }: Loaded): boolean {
  if (metadata.deletionTimestamp) return true;
  return kind === 'Pod' && (status?.['phase'] === 'Succeeded' || status?.['phase'] === 'Failed');
}

interface Context {
  readonly uids: ReadonlyMap<string, string>;
  readonly classes: ReadonlySet<string | undefined>;
}

function prepare(object: Loaded, { classes, uids }: Context): Loaded {
  const { creationTimestamp: _created, generation: _generation, uid: _uid, ...kept } = object.metadata;
  const metadata = kept as typeof kept & { ownerReferences?: { uid: string; controller?: boolean }[] };
  const owners = metadata.ownerReferences ?? [];
  const known = owners
    .filter(({ uid }) => uids.has(uid))
    .map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? '' }));
  const orphaned = owners.some(({ controller, uid }) => controller === true && !uids.has(uid));
  const next: Loaded = { ...object, metadata: { ...metadata, ownerReferences: known } as Loaded['metadata'] };
  if (object.spec !== undefined) next.spec = withoutForeign(object.spec, classes) as Fields;
  return adapt(next, { orphaned });
}

/** What each kind needs to stand still after it is loaded: a load is no change of a template. */
function adapt(object: Loaded, { orphaned }: { orphaned: boolean }): Loaded {
  const spec = object.spec ?? {};
  const { annotations, ...metadata } = object.metadata;
  switch (object.kind) {
    case 'Node':
      return {
        ...object,
        metadata: { ...metadata, annotations: { ...annotations, ...nodeMarks(object) } },
        spec: calmNode(spec),
      };
    case 'Pod': {
      const own = Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith('nodes.quorate.dev/'));
      const marks = Object.fromEntries([...own, ...(orphaned ? [[STAND_IN, 'true'] as const] : [])]);
      return { ...object, metadata: { ...metadata, annotations: marks } };
    }
    case 'StatefulSet':
    case 'DaemonSet':
      return { ...object, spec: { ...spec, updateStrategy: { type: 'OnDelete' } } };
    case 'LeaderWorkerSet': {
      const rollingUpdateConfiguration = { maxUnavailable: 1, maxSurge: 0, partition: spec['replicas'] ?? 1 };
      return { ...object, spec: { ...spec, rolloutStrategy: { type: 'RollingUpdate', rollingUpdateConfiguration } } };
    }
    case 'Job':
      return { ...object, spec: { ...spec, manualSelector: true } };
    case 'CronJob':
      return { ...object, spec: { ...spec, suspend: true } };
    default:
      return object;
  }
}

function nodeMarks({ status }: Loaded): Record<string, string> {
  const conditions = (status?.['conditions'] ?? []) as { type: string; status: string }[];
  const down = conditions.some((one) => one.type === 'Ready' && one.status !== 'True');
  return { [SIMULATED]: 'true', ...(down && { [POWER]: 'off' }) };
}

/** Taints that node conditions bring come back by themselves. */
function calmNode(spec: Fields): Fields {
  const taints = (spec['taints'] ?? []) as { key: string }[];
  return { ...spec, taints: taints.filter(({ key }) => !key.startsWith('node.kubernetes.io/')) };
}

/** One scheduler plays all of them; a priority follows from its class, where that is known. */
function withoutForeign(value: unknown, classes: Context['classes']): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutForeign(one, classes));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const isPodSpec = Array.isArray(fields['containers']);
  const entries = Object.entries(fields).filter(([key, one]) => {
    if (!isPodSpec) return true;
    if (key === 'schedulerName' || key === 'priority' || key === 'preemptionPolicy') return false;
    return key !== 'priorityClassName' || classes.has(String(one)) || String(one).startsWith('system-');
  });
  return Object.fromEntries(entries.map(([key, one]) => [key, withoutForeign(one, classes)]));
}
