import type {
  GroupHit,
  MaintenancePlan,
  MaintenanceSpec,
  MaintenanceStatus,
  PlannedBlock,
  PlannedEviction,
  PlannedPod,
  PlannedStep,
} from '../../api/quorate/maintenance.ts';
import type { GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import { formatTime, scaledValue } from '../../machinery/values/index.ts';
import type { DrainPlan, PlanQuestion } from '../drain-plan/index.ts';

export interface PlanInput {
  readonly now: number;
  readonly spec: MaintenanceSpec;
  readonly status: MaintenanceStatus;
  /** Nodes of the Maintenance, all of them: pace in percent is of these. */
  readonly nodesTotal: number;
  /** What the planner was asked: only pods that may be moved. */
  readonly question: PlanQuestion;
  readonly plan: DrainPlan;
  readonly leftForLast?: string | undefined;
  readonly podOf: (id: string) => PlannedPod | undefined;
  /** Groups that are not moved because of their pods. */
  readonly refused: readonly PlannedBlock[];
  readonly hashOf: (text: string) => string;
  /** Whether groups can go whole. */
  readonly groupEvictions: boolean;
}

export interface PlanMade {
  readonly plan: MaintenancePlan;
  /** What every group has been and may be taken down. */
  readonly hits: readonly GroupHit[];
}

const MAX_HITS = 1000;
/** The whole status must stay under 512 KiB. */
const MAX_PLAN_CHARACTERS = 300_000;

/** Turns the planner's answer into the plan of a Maintenance: with its pace, and within what the first plan promised. */
export function makePlan(input: PlanInput): PlanMade {
  const { now, plan, question, spec, status } = input;
  const paced = paceSteps([...stepsOf(input), ...ignoringRoom(input)], input);
  const within = withinPlan(paced, input);
  const whole = markWhole(within.steps, input.groupEvictions);
  const blocked: PlannedBlock[] = [
    ...input.refused,
    ...plan.blocked
      .filter(({ reason }) => !(spec.capacity === 'Ignore' && isAboutRoom(reason)))
      .map(({ budgets, nodes, reason, text, unit }) => ({
        group: unit,
        reason,
        ...(budgets.length > 0 && { budgets: [...budgets] }),
        nodes: [...nodes],
        pods: podsOn(question, unit),
        ...(text !== undefined && { text }),
      })),
    ...within.blocked,
  ];
  const stuck = new Set(blocked.flatMap(({ nodes = [] }) => nodes));
  const completed = withCompletes(whole, plan, stuck);
  const { kept, left } = truncate(completed);
  const number = (status.plan?.number ?? 0) + 1;
  const body = { steps: kept, blocked };
  return {
    plan: {
      number,
      madeAt: formatTime(now),
      hash: input.hashOf(JSON.stringify(body)),
      stepsBefore: stepsDone(status),
      ...body,
      ...(left > 0 && { truncatedSteps: left }),
      disruptions: countDisruptions(completed),
      lowerBound: Math.min(plan.lowerBound, countDisruptions(completed)),
      ...(input.leftForLast !== undefined && { leftForLast: input.leftForLast }),
    },
    hits: within.hits,
  };
}

/** Steps that are done for good; one that has begun and took nothing yet is planned anew. */
export function stepsDone({ step }: MaintenanceStatus): number {
  if (step === undefined) return 0;
  return step.doneAt === undefined && step.begunAt !== undefined ? step.number - 1 : step.number;
}

const isAboutRoom = (reason: string): boolean => reason === 'NoRoom' || reason === 'CannotTell';

const countDisruptions = (steps: readonly PlannedStep[]): number =>
  steps.reduce((sum, { evictions }) => sum + evictions.filter(({ disrupts }) => disrupts).length, 0);

function podsOn({ nodes, pods }: PlanQuestion, unit: string): string[] {
  const draining = new Set(nodes.filter(({ drain }) => drain).map(({ name }) => name));
  return pods.filter((pod) => pod.unit === unit && draining.has(pod.node)).map(({ id }) => id);
}

function stepsOf({ plan, podOf }: PlanInput): PlannedStep[] {
  return plan.steps.map(({ evictions }) => ({
    evictions: evictions.map(({ disrupts, pods: ids, seconds, unit }) => {
      const pods = ids.flatMap((id) => podOf(id) ?? []);
      return { group: unit, pods, disrupts, ...(seconds !== undefined && { seconds: Math.ceil(seconds) }) };
    }),
  }));
}

/** Where room does not matter, what found none goes last, one group after the other. */
function ignoringRoom({ plan, podOf, question, spec }: PlanInput): PlannedStep[] {
  if (spec.capacity !== 'Ignore') return [];
  const units = new Map(question.units.map((unit) => [unit.id, unit]));
  return plan.blocked
    .filter(({ reason }) => isAboutRoom(reason))
    .map(({ unit }) => {
      const { healthy = 0, needed = 1 } = units.get(unit) ?? {};
      const pods = podsOn(question, unit).flatMap((id) => podOf(id) ?? []);
      return { evictions: [{ group: unit, pods, disrupts: healthy >= needed }] };
    });
}

/** Splits steps that are larger than asked for. A group that stands on more nodes than may be worked on goes alone. */
function paceSteps(steps: readonly PlannedStep[], { nodesTotal, spec }: PlanInput): PlannedStep[] {
  const { maxGroupsDownAtOnce = Number.POSITIVE_INFINITY, maxNodesAtOnce } = spec.pace ?? {};
  const maxNodes =
    maxNodesAtOnce === undefined ? Number.POSITIVE_INFINITY : scaledValue(maxNodesAtOnce, nodesTotal, 'up');
  const paced: PlannedStep[] = [];
  for (const { evictions } of steps) {
    let part: PlannedEviction[] = [];
    let nodes = new Set<string>();
    let down = 0;
    for (const eviction of evictions) {
      const with_ = new Set([...nodes, ...eviction.pods.map(({ node }) => node)]);
      const falls = eviction.disrupts ? 1 : 0;
      if (part.length > 0 && (with_.size > maxNodes || down + falls > maxGroupsDownAtOnce)) {
        paced.push({ evictions: part });
        part = [];
        nodes = new Set(eviction.pods.map(({ node }) => node));
        down = 0;
      } else nodes = with_;
      part.push(eviction);
      down += falls;
    }
    if (part.length > 0) paced.push({ evictions: part });
  }
  return paced;
}

/**
 * Holds a later plan to what the first one promised: no group goes down more often than it said, and one that was not in
 * it, because it came later, goes down once.
 */
function withinPlan(
  steps: readonly PlannedStep[],
  { question, spec, status }: PlanInput,
): { steps: PlannedStep[]; blocked: PlannedBlock[]; hits: GroupHit[] } {
  const first = status.plan === undefined;
  const known = new Map((status.groups?.hit ?? []).map((hit) => [hit.group, hit]));
  const down = new Set(question.units.filter(({ healthy, needed }) => healthy < needed).map(({ id }) => id));
  const planned = new Map<string, number>();
  const seen = new Set<string>();
  const blocked: PlannedBlock[] = [];
  const kept: PlannedStep[] = [];
  for (const { evictions } of steps) {
    const stays = evictions.filter(({ disrupts, group, pods }) => {
      seen.add(group);
      if (!disrupts) return true;
      const next = (planned.get(group) ?? 0) + 1;
      const hit = known.get(group);
      const allowed = hit === undefined ? 1 : hit.allowed - hit.count;
      if (!first && spec.replan !== 'Any' && next > allowed) {
        blocked.push({
          group,
          reason: 'ReplanNeedsMore',
          nodes: [...new Set(pods.map(({ node }) => node))].sort(),
          pods: pods.map(({ name, namespace }) => `${namespace}/${name}`),
          text: `it would go down once more than the first plan said; set spec.replan to Any to let it`,
        });
        return false;
      }
      planned.set(group, next);
      return true;
    });
    if (stays.length > 0) kept.push({ evictions: stays });
  }
  for (const group of seen) {
    // What came later may go down once, and so may what was down when its move was first planned.
    const least = first && !down.has(group) ? 0 : 1;
    const hit = known.get(group) ?? { group, count: 0, allowed: least };
    known.set(group, { ...hit, allowed: Math.max(hit.allowed, hit.count + (planned.get(group) ?? 0)) });
  }
  const hits = [...known.values()].sort((a, b) => b.count - a.count || b.allowed - a.allowed).slice(0, MAX_HITS);
  return { steps: kept, blocked, hits };
}

/** A group that goes down, and is not taken apart over several steps, goes as one. */
function markWhole(steps: readonly PlannedStep[], groupEvictions: boolean): PlannedStep[] {
  const parts = new Map<string, number>();
  for (const { evictions } of steps) for (const { group } of evictions) parts.set(group, (parts.get(group) ?? 0) + 1);
  return steps.map(({ evictions }) => ({
    evictions: evictions.map((one) => {
      const goesWhole =
        groupEvictions && one.disrupts && parts.get(one.group) === 1 && groupOf(one.group) !== undefined;
      return goesWhole ? { ...one, whole: true } : one;
    }),
  }));
}

/** How a GroupEviction names a group of a plan; undefined for those it has no name for, and for pods on their own. */
export function groupOf(group: string): { namespace: string; spec: GroupEvictionSpec } | undefined {
  const [namespace = '', kind, name = '', index] = group.split('/');
  if (kind === 'PodGroup' && name !== '' && index === undefined) return { namespace, spec: { podGroupName: name } };
  if (kind === 'LeaderWorkerSet' && index !== undefined) {
    return { namespace, spec: { leaderWorkerSet: { name, groupIndex: Number(index) } } };
  }
  return undefined;
}

/** A node is empty after the last step that takes something from it; those that were empty, when the planner says. */
function withCompletes(steps: readonly PlannedStep[], plan: DrainPlan, stuck: ReadonlySet<string>): PlannedStep[] {
  const last = new Map<string, number>();
  for (const [at, { evictions }] of steps.entries())
    for (const { pods } of evictions) for (const { node } of pods) last.set(node, at);
  const empty = plan.steps.flatMap(({ completes }) => completes).filter((node) => !last.has(node));
  return steps.map(({ evictions }, at) => {
    const own = [...last].filter(([node, step]) => step === at && !stuck.has(node)).map(([node]) => node);
    const completes = [...own, ...(at === 0 ? empty.filter((node) => !stuck.has(node)) : [])].sort();
    return { evictions, ...(completes.length > 0 && { completes }) };
  });
}

function truncate(steps: PlannedStep[]): { kept: PlannedStep[]; left: number } {
  let size = 0;
  for (const [at, step] of steps.entries()) {
    size += JSON.stringify(step).length;
    if (size > MAX_PLAN_CHARACTERS && at > 0) return { kept: steps.slice(0, at), left: steps.length - at };
  }
  return { kept: steps, left: 0 };
}
