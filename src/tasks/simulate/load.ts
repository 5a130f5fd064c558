import { POWER, SIMULATED } from '../../nodes/index.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../api/scheduling/index.ts';
import { type Client, isAlreadyExists } from '../../machinery/runtime/index.ts';
import { LoadedRevisions } from './revisions.ts';
import { type Snapshot, SNAPSHOT_KINDS } from '../snapshot/index.ts';

type Fields = Record<string, unknown>;
export type Loaded = KubeObject & { spec?: Fields; status?: Fields };

/** On a pod whose controller is of a kind that is not played here: it is made again as it was when it goes. */
export const STAND_IN = 'simulate.quorate.dev/stand-in';

/**
 * Puts a snapshot into an empty plane before its controllers start, so that they find everything in place: owners before
 * what they own, and templates with the revisions that pods name, because a load is no rollout. Answers what could not be
 * loaded, one line each.
 */
export async function loadSnapshot(client: Client, snapshot: Snapshot): Promise<string[]> {
  const problems: string[] = [];
  const uids = new Map<string, string>();
  const objects = snapshot.objects as readonly Loaded[];
  const classes = new Set(objects.filter(({ kind }) => kind === 'PriorityClass').map(({ metadata }) => metadata.name));
  const revisions = new LoadedRevisions(objects);
  const kinds = new Map(SNAPSHOT_KINDS.map(({ name, types }) => [name, types]));
  for (const object of ownersFirst(objects)) {
    const { kind = '' } = object;
    const types = kinds.get(kind) ?? [];
    const from = types.find((one) => apiVersionOf(one) === object.apiVersion) ?? types[0];
    if (from === undefined || isGone(object)) continue;
    // Where a cluster has groups by our definitions, the plane has them natively.
    const type = from.group === OWN_SCHEDULING_GROUP ? { ...from, group: SCHEDULING_GROUP } : from;
    try {
      const ready = revisions.translate(prepare(object, { uids, classes }));
      const created = await loadOne(client, type, { ...ready, apiVersion: apiVersionOf(type) });
      if (object.metadata.uid !== undefined) uids.set(object.metadata.uid, created.metadata.uid ?? '');
      await revisions.record(client, object, created);
    } catch (error) {
      if (isAlreadyExists(error)) continue;
      const { name = '', namespace } = object.metadata;
      problems.push(`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}: ${(error as Error).message}`);
    }
  }
  return problems;
}

/** Kinds in the order of the snapshot's list; what an object belongs to before the object, whatever its kind. */
function ownersFirst(objects: readonly Loaded[]): Loaded[] {
  const ranks = new Map(SNAPSHOT_KINDS.map(({ name }, at) => [name, at]));
  const rankOf = ({ kind = '' }: Loaded): number => ranks.get(kind) ?? ranks.size;
  const byUid = new Map(objects.flatMap((object) => (object.metadata.uid ? [[object.metadata.uid, object]] : [])));
  const ordered = new Set<Loaded>();
  const visit = (object: Loaded, above: ReadonlySet<Loaded>): void => {
    if (ordered.has(object) || above.has(object)) return;
    for (const { uid } of ownersOf(object)) {
      const owner = byUid.get(uid);
      if (owner !== undefined) visit(owner, new Set([...above, object]));
    }
    ordered.add(object);
  };
  for (const object of [...objects].sort((a, b) => rankOf(a) - rankOf(b))) visit(object, new Set());
  return [...ordered];
}

type OwnerReference = { uid: string; controller?: boolean };

const ownersOf = ({ metadata }: Loaded): readonly OwnerReference[] =>
  (metadata as { ownerReferences?: OwnerReference[] }).ownerReferences ?? [];

async function loadOne(client: Client, type: ResourceType, object: Loaded): Promise<KubeObject> {
  const { status, ...rest } = object;
  const created = await client.create(type, rest);
  const body = { status: statusOf(type.kind, status ?? {}) };
  if (body.status !== undefined) {
    const { name = '', namespace } = object.metadata;
    await client.patch(type, { name, namespace }, { type: 'merge', body }, { subresource: 'status' });
  }
  return created;
}

/** What nobody here works out again: what a node has, and what of a Job is done already. */
function statusOf(kind: string, { allocatable, capacity, conditions: _old, ...counts }: Fields): Fields | undefined {
  if (kind === 'Node') return { allocatable, capacity };
  if (kind !== 'Job') return undefined;
  const { completedIndexes, failed, failedIndexes, startTime, succeeded } = counts;
  return { completedIndexes, failed, failedIndexes, startTime, succeeded };
}

/** What is finished holds nothing up, and what is on its way out would be gone by now. */
function isGone({ kind, metadata, status }: Loaded): boolean {
  if (metadata.deletionTimestamp) return true;
  if (kind === 'Job') {
    const conditions = (status?.['conditions'] ?? []) as { type: string; status: string }[];
    return conditions.some((one) => (one.type === 'Complete' || one.type === 'Failed') && one.status === 'True');
  }
  return kind === 'Pod' && (status?.['phase'] === 'Succeeded' || status?.['phase'] === 'Failed');
}

interface Context {
  readonly uids: ReadonlyMap<string, string>;
  readonly classes: ReadonlySet<string | undefined>;
}

function prepare(object: Loaded, { classes, uids }: Context): Loaded {
  const { creationTimestamp: _created, generation: _generation, uid: _uid, ...kept } = object.metadata;
  const owners = ownersOf(object);
  const known = owners
    .filter(({ uid }) => uids.has(uid))
    .map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? '' }));
  const orphaned = owners.some(({ controller, uid }) => controller === true && !uids.has(uid));
  const next: Loaded = { ...object, metadata: { ...kept, ownerReferences: known } as Loaded['metadata'] };
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
    case 'Job':
      return { ...object, spec: { ...spec, manualSelector: true } };
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
