/**
 * Moves groups over an upgrade of Kubernetes that no longer knows the version they are stored in. Twins in kinds of ours
 * stand in for them meanwhile: no pod is restarted, and budgets count the same at every step. Every step can be
 * repeated; what is done already is left as it is.
 */
import { type KubeObject, type ResourceType, splitApiVersion } from '../../api/resource.ts';
import { podType } from '../../api/resource-types.ts';
import {
  discoverGroupApi,
  OWN_SCHEDULING_GROUP,
  podGroupType,
  PROTECTION_FINALIZER,
  SCHEDULING_GROUP,
  type SchedulingVersion,
  workloadType,
} from '../../api/scheduling/index.ts';
import { type Client, isAlreadyExists, isNotFound } from '../../machinery/runtime/index.ts';
import { countBudgets, differing, type MigrationState, readState } from './state.ts';
import { type GroupObject, missingMirrors, spareMirrors, twinOf, type WorkloadUids } from './twins.ts';

export interface MigrationOptions {
  readonly now: number;
  /** Says what would be done, and does nothing. */
  readonly dryRun: boolean;
  /** Told of everything that is done, or would be. */
  readonly did: (what: string) => void;
}

/** The cluster is not as the step needs it; the message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

export interface MigrationResult {
  readonly groups: number;
  readonly pods: number;
  readonly budgets: number;
}

/** All groups as `v1beta1` has them, with their owners. */
export async function exportGroups(client: Client): Promise<GroupObject[]> {
  const { native } = await readState(client);
  return native.map((object) => twinOf(object, 'native', uidsOf(native)));
}

/** Writes a twin of every group, and on pods the name of their group as an annotation. */
export async function writeTwins(client: Client, options: MigrationOptions): Promise<MigrationResult> {
  await mustServe(
    client,
    OWN_SCHEDULING_GROUP,
    'install the definitions: quorate install --groups crd | kubectl apply -f -',
  );
  const state = await readState(client);
  await copy(client, { objects: state.native, to: 'own', there: state.twins }, options);
  const pods = await annotate(client, state, options);
  const { budgets } = options.dryRun ? compareTo(state, options.now) : compareTo(await readState(client), options.now);
  return { groups: state.native.length, pods, budgets };
}

/** Removes the groups that have twins. Refused while a budget would count anything else afterwards. */
export async function deleteOld(client: Client, options: MigrationOptions): Promise<MigrationResult> {
  const state = await readState(client);
  const twins = new Set(state.twins.map(identityOf));
  const without = state.native.filter((object) => !twins.has(identityOf(object)));
  if (without.length > 0) {
    const names = without.slice(0, 3).map(identityOf).join(', ');
    throw new MigrationError(
      `${without.length} groups have no twin yet (${names}): run "quorate migrate groups" first`,
    );
  }
  const { budgets } = compareTo(state, options.now);
  // PodGroups before the Workloads that own them.
  for (const object of state.native.toReversed()) await remove(client, object, options);
  return { groups: state.native.length, pods: 0, budgets };
}

/** Makes groups of Kubernetes' own kinds from the twins, and removes those once budgets count the same without them. */
export async function importGroups(client: Client, options: MigrationOptions): Promise<MigrationResult> {
  await mustServe(client, SCHEDULING_GROUP, 'upgrade first, and serve scheduling.k8s.io/v1beta1');
  const state = await readState(client);
  await copy(client, { objects: state.twins, to: 'native', there: state.native }, options);
  const before = countBudgets(state, options.now, { native: state.native, own: ownOf(state) });
  const now = options.dryRun ? state : await readState(client);
  const native = options.dryRun ? [...state.native, ...state.twins] : now.native;
  const twins = new Set(state.twins.map(identityOf));
  const rest = ownOf(now).filter((object) => !twins.has(identityOf(object)));
  refuseChanged(before, countBudgets(now, options.now, { native, own: rest }));
  let pods = 0;
  for (const pod of now.pods) {
    const spare = spareMirrors(pod);
    if (spare.length === 0) continue;
    pods += 1;
    const annotations = Object.fromEntries(spare.map((key) => [key, null]));
    await patchPod(client, pod, annotations, options);
  }
  for (const object of state.twins.toReversed()) await remove(client, object, options);
  return { groups: state.twins.length, pods, budgets: before.size };
}

const identityOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;

/** Objects of our kinds, twins and others. */
function ownOf({ objects }: MigrationState): GroupObject[] {
  return objects
    .flat()
    .filter(({ apiVersion = '' }) => splitApiVersion(apiVersion).group === OWN_SCHEDULING_GROUP) as GroupObject[];
}

/** Whether budgets count the same by the twins alone. */
function compareTo(state: MigrationState, now: number): { budgets: number } {
  const own = ownOf(state);
  const before = countBudgets(state, now, { native: state.native, own });
  const known = new Set(own.map(identityOf));
  const planned = state.native.filter((object) => !known.has(identityOf(object)));
  const twins = planned.map((object) => twinOf(object, 'own', uidsOf(planned)));
  refuseChanged(before, countBudgets(state, now, { native: [], own: [...own, ...twins] }));
  return { budgets: before.size };
}

function refuseChanged(before: ReadonlyMap<string, object>, after: ReadonlyMap<string, object>): void {
  const changed = differing(before, after);
  if (changed.length === 0) return;
  const names = changed.slice(0, 5).join(', ');
  throw new MigrationError(
    `${changed.length} budgets would not count the same afterwards (${names}): nothing was removed; see "quorate why" for their groups`,
  );
}

function uidsOf(objects: readonly GroupObject[]): WorkloadUids {
  const workloads = objects.filter(({ kind }) => kind === 'Workload');
  return new Map(workloads.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.uid ?? '']));
}

interface Copying {
  readonly objects: readonly GroupObject[];
  readonly to: 'own' | 'native';
  /** Those that were there before. */
  readonly there: readonly GroupObject[];
}

async function copy(client: Client, { objects, there, to }: Copying, { did, dryRun }: MigrationOptions): Promise<void> {
  const known = new Set(there.map(identityOf));
  const uids = new Map(uidsOf(there));
  for (const object of objects) {
    const twin = twinOf(object, to, uids);
    if (known.has(identityOf(object))) continue;
    did(`create ${twin.apiVersion} ${identityOf(twin)}`);
    if (dryRun) continue;
    const type = typeOf(twin);
    try {
      const { metadata } = await client.create(type, twin as KubeObject);
      if (twin.kind === 'Workload') uids.set(`${metadata.namespace}/${metadata.name}`, metadata.uid ?? '');
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const { name = '', namespace } = twin.metadata;
      throw new MigrationError(
        `${identityOf(twin)} exists in ${twin.apiVersion} and is no twin: rename or remove ${namespace}/${name} there`,
      );
    }
  }
}

async function annotate(client: Client, { pods }: MigrationState, options: MigrationOptions): Promise<number> {
  let changed = 0;
  for (const pod of pods) {
    const missing = missingMirrors(pod);
    if (Object.keys(missing).length === 0) continue;
    changed += 1;
    await patchPod(client, pod, missing, options);
  }
  return changed;
}

async function patchPod(
  client: Client,
  { metadata }: KubeObject,
  annotations: Readonly<Record<string, string | null>>,
  { did, dryRun }: MigrationOptions,
): Promise<void> {
  const { name = '', namespace, uid } = metadata;
  did(`annotate Pod ${namespace}/${name}`);
  if (dryRun) return;
  const body = { metadata: { uid, annotations } };
  await client.patch(podType, { namespace, name }, { type: 'merge', body }).catch(unlessGone);
}

/** With what protects it: the pods that it waits for are to stay. */
async function remove(client: Client, object: GroupObject, { did, dryRun }: MigrationOptions): Promise<void> {
  const { finalizers = [], name = '', namespace, uid } = object.metadata;
  did(`delete ${object.apiVersion} ${identityOf(object)}`);
  if (dryRun) return;
  const type = typeOf(object);
  if (finalizers.includes(PROTECTION_FINALIZER)) {
    const left = finalizers.filter((one) => one !== PROTECTION_FINALIZER);
    const body = { metadata: { uid, finalizers: left.length > 0 ? left : null } };
    await client.patch(type, { namespace, name }, { type: 'merge', body }).catch(unlessGone);
  }
  const preconditions = { uid };
  await client.delete(type, { namespace, name }, { propagationPolicy: 'Background', preconditions }).catch(unlessGone);
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

function typeOf({ apiVersion = '', kind }: GroupObject): ResourceType {
  const { group, version } = splitApiVersion(apiVersion);
  const make = kind === 'Workload' ? workloadType : podGroupType;
  return make(version as SchedulingVersion, group);
}

async function mustServe(client: Client, group: string, remedy: string): Promise<void> {
  const read = async <T>(path: string): Promise<T | undefined> => {
    if (!path.startsWith(`/apis/${group}/`)) return undefined;
    return client.request<T>('GET', path).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    });
  };
  const { podGroups } = await discoverGroupApi(read);
  if (!podGroups.includes('v1beta1')) throw new MigrationError(`${group}/v1beta1 is not served: ${remedy}`);
}
