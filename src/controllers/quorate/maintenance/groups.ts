import { controllerOf } from '../../../api/core/owner.ts';
import { isPodActive, isPodReady } from '../../../api/core/pod-state.ts';
import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { PlannedEviction, PlannedStep, PodController } from '../../../api/quorate/maintenance.ts';
import { builtinType } from '../../../api/registry.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { type BudgetState, gatherBudgets } from '../../../cluster-state/index.ts';
import { gatherWholesaleSets } from '../../../cluster-state/wholesale-sets.ts';
import { UnitFinder } from '../../../decisions/drain-question/index.ts';
import type { GroupHealth } from '../../../decisions/maintenance/index.ts';
import { type Client, isForbidden, isNotFound } from '../../../machinery/runtime/index.ts';

export interface LookAt {
  readonly begunAt: string;
  readonly now: number;
}

/** Whether the groups of a step are whole again, down, or nobody makes them again. */
export async function lookAtGroups(
  client: Client,
  step: PlannedStep,
  { begunAt, now }: LookAt,
): Promise<Map<string, GroupHealth>> {
  const states = new Map<string, GroupHealth>();
  const namespaces = new Set(step.evictions.flatMap(({ pods }) => pods.map(({ namespace }) => namespace)));
  const wholesaleSets = await gatherWholesaleSets(client);
  for (const namespace of namespaces) {
    const state = await gatherBudgets(client, { namespace, now });
    const whole = wholeUnits(state, wholesaleSets, now);
    const owners = new Owners(client, namespace);
    const own = step.evictions.filter(({ pods }) => pods[0]?.namespace === namespace);
    for (const eviction of own) {
      const isAlone = eviction.group === `${namespace}/${eviction.pods[0]?.name ?? ''}`;
      states.set(
        eviction.group,
        isAlone ? await stateOfPod(owners, eviction, { all: own, pods: state.pods, begunAt }) : await stateOf(eviction),
      );
    }
    async function stateOf({ disrupts, group, pods }: PlannedEviction): Promise<GroupHealth> {
      if (!disrupts || whole.has(group)) return 'Whole';
      for (const { controller } of pods) if (await owners.isAlive(controller)) return 'Down';
      return 'Removed';
    }
  }
  return states;
}

/** Units of a namespace that have what they need. */
function wholeUnits(state: BudgetState, wholesaleSets: ReadonlySet<string>, now: number): Set<string> {
  const finder = new UnitFinder({ ...state, everyGroup: state.everyGroup(), wholesaleSets }, state.pods, now);
  const whole = new Set<string>();
  for (const pod of state.pods) {
    if (!isPodActive(pod)) continue;
    const { unit } = finder.find(pod);
    if (unit.healthy >= unit.needed) whole.add(unit.id);
  }
  return whole;
}

/**
 * A pod on its own is back when its controller has made as many Ready ones since the step began as the step took from it,
 * or has all it wants.
 */
async function stateOfPod(
  owners: Owners,
  { disrupts, pods: [pod] }: PlannedEviction,
  { all, begunAt, pods }: { all: readonly PlannedEviction[]; pods: readonly Pod[]; begunAt: string },
): Promise<GroupHealth> {
  const controller = pod?.controller;
  if (!disrupts) return 'Whole';
  if (controller === undefined || !(await owners.isAlive(controller))) return 'Removed';
  const taken = all.filter((one) => one.disrupts && one.pods[0]?.controller?.uid === controller.uid).length;
  const ready = pods.filter((one) => controllerOf(one)?.uid === controller.uid && isPodActive(one) && isPodReady(one));
  const gone = new Set(all.flatMap((one) => one.pods.map(({ uid }) => uid)));
  const fresh = ready.filter(
    ({ metadata }) => !gone.has(metadata.uid ?? '') && (metadata.creationTimestamp ?? '') >= begunAt,
  );
  if (fresh.length >= taken) return 'Whole';
  const wanted = await owners.wanted(controller);
  return wanted !== undefined && ready.length >= wanted ? 'Whole' : 'Down';
}

const GROUPS: Readonly<Record<string, string>> = {
  ReplicaSet: 'apps',
  StatefulSet: 'apps',
  Job: 'batch',
  ReplicationController: '',
};

/** The controllers of pods, each read once. */
class Owners {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #known = new Map<string, Promise<KubeObject | 'Gone' | 'Unknown'>>();

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Whether it makes pods; of kinds that are not known here it is taken that they do. */
  async isAlive(controller: PodController | undefined): Promise<boolean> {
    if (controller === undefined) return false;
    const owner = await this.#read(controller);
    return owner === 'Unknown' || (owner !== 'Gone' && !isFinishedJob(controller, owner));
  }

  /** How many pods it wants; undefined where that is not known. */
  async wanted(controller: PodController): Promise<number | undefined> {
    const owner = await this.#read(controller);
    if (owner === 'Gone') return 0;
    if (owner === 'Unknown') return undefined;
    if (controller.kind === 'Job') {
      const { spec, status } = owner as Job;
      const parallel = spec?.parallelism ?? 1;
      return spec?.completions === undefined
        ? parallel
        : Math.min(parallel, Math.max(0, spec.completions - (status?.succeeded ?? 0)));
    }
    return (owner as { spec?: { replicas?: number } }).spec?.replicas ?? 1;
  }

  #read(controller: PodController): Promise<KubeObject | 'Gone' | 'Unknown'> {
    const known = this.#known.get(controller.uid);
    if (known !== undefined) return known;
    const read = this.#ask(controller);
    this.#known.set(controller.uid, read);
    return read;
  }

  async #ask({ kind, name, uid }: PodController): Promise<KubeObject | 'Gone' | 'Unknown'> {
    const group = GROUPS[kind];
    if (group === undefined) return 'Unknown';
    try {
      const owner = await this.#client.get(builtinType(kind, group), { namespace: this.#namespace, name });
      return owner.metadata.uid !== uid || owner.metadata.deletionTimestamp !== undefined ? 'Gone' : owner;
    } catch (error) {
      if (isNotFound(error)) return 'Gone';
      if (isForbidden(error)) return 'Unknown';
      throw error;
    }
  }
}

function isFinishedJob({ kind }: PodController, owner: KubeObject): boolean {
  if (kind !== 'Job') return false;
  const conditions = (owner as Job).status?.conditions ?? [];
  return conditions.some(({ status, type }) => (type === 'Complete' || type === 'Failed') && status === 'True');
}
