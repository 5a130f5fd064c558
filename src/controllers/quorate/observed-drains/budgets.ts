import { controllerOf } from '../../../api/core/owner.ts';
import { isPodReady } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { type Maintenance, maintenanceType } from '../../../api/quorate/maintenance.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { type BudgetState, CannotTellError, evictionBudgets, gatherBudgets } from '../../../cluster-state/index.ts';
import { gatherWholesaleSets } from '../../../cluster-state/wholesale-sets.ts';
import { explainTogether } from '../../../decisions/all-budgets/index.ts';
import { type FoundUnit, UnitFinder } from '../../../decisions/drain-question/index.ts';
import { budgetBlocker, groupOf } from '../../../decisions/maintenance/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';
import { evictWhole } from '../maintenance/act.ts';
import type { ObservedDeps, ObservedMemory } from './deps.ts';

const LOOK_MS = 5000;
const ASK_MS = 15_000;
const DEFAULT_GRACE_SECONDS = 30;
/** So long before the deadline, beside the longest grace, nothing more is begun. */
const MARGIN_MS = 30_000;

/** What refuses every pod that is left on the node; nothing, while one of them may go. */
export async function lookAtBudgets(
  { client, clock }: ObservedDeps,
  memory: ObservedMemory,
  maintenance: Maintenance,
  pods: readonly Pod[],
): Promise<void> {
  const now = clock.now();
  if (now - memory.lookedAt < LOOK_MS) return;
  memory.lookedAt = now;
  try {
    const state = await gatherBudgets(client, { now });
    const node = maintenance.spec?.nodes.names?.[0] ?? '';
    const isCordoned = (name: string): boolean => name === node || state.isCordoned(name);
    const all = { ...evictionBudgets(state, now), isCordoned, closing: [node] };
    const { pods: asked, refusals } = explainTogether(all, `node ${node}`, pods);
    const find = await finderOf(client, state, now);
    const byName = new Map(pods.map((pod) => [`${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`, pod]));
    memory.blockers = asked.some(({ allowed }) => allowed)
      ? []
      : refusals.map((refusal) => {
          const id = `${refusal.namespace}/${refusal.pod}`;
          const pod = byName.get(id);
          return budgetBlocker(pod === undefined ? id : find(pod).unit.id, [id], refusal);
        });
  } catch (error) {
    // What may not be read is not said.
    if (!(error instanceof CannotTellError)) throw error;
    memory.blockers = [];
  }
}

async function finderOf(
  client: ObservedDeps['client'],
  state: BudgetState,
  now: number,
): Promise<(pod: Pod) => FoundUnit> {
  const wholesaleSets = await gatherWholesaleSets(client);
  const finder = new UnitFinder({ ...state, everyGroup: state.everyGroup(), wholesaleSets }, state.pods, now);
  return (pod) => finder.find(pod);
}

/**
 * Asks for groups that the deadline would break to go as a whole before it, within budgets: at once, and again until it is
 * too late for that. What is refused until then is told.
 */
export async function moveGroups(
  deps: ObservedDeps,
  memory: ObservedMemory,
  maintenance: Maintenance,
  pods: readonly Pod[],
): Promise<void> {
  const { client, clock } = deps;
  const { source } = maintenance.spec ?? {};
  const deadline = parseTime(source?.deadline);
  const now = clock.now();
  if (deadline === undefined || source?.ignoresBudgets !== true || now - memory.askedAt < ASK_MS) return;
  memory.askedAt = now;
  const state = await gatherBudgets(client, { now });
  const find = await finderOf(client, state, now);
  const units = new Map<string, { found: FoundUnit; here: Pod[] }>();
  for (const pod of pods) {
    const found = find(pod);
    const known = units.get(found.unit.id) ?? { found, here: [] };
    known.here.push(pod);
    units.set(found.unit.id, known);
  }
  for (const [group, { found, here }] of units) {
    const named = groupOf(group);
    const staying = found.unit.healthy - here.filter(isPodReady).length;
    if (named === undefined || found.unit.healthy < found.unit.needed || staying >= found.unit.needed) continue;
    const graces = state.pods
      .filter((pod) => find(pod).unit.id === group)
      .map(({ spec }) => (spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000);
    const isLate = now > deadline - Math.max(...graces, 0) - MARGIN_MS;
    const asked = { ...named, grace: undefined, group, plan: 1, step: 1 };
    const refused = isLate
      ? { text: 'its budgets have not agreed in time' }
      : await evictWhole(client, maintenance, asked);
    if (refused !== undefined && isLate) warn(deps, memory, maintenance, group, here[0]);
  }
}

function warn(
  { events }: ObservedDeps,
  { warned }: ObservedMemory,
  maintenance: Maintenance,
  group: string,
  pod: Pod | undefined,
): void {
  if (warned.has(group)) return;
  warned.add(group);
  const { deadline = '', driver = '' } = maintenance.spec?.source ?? {};
  const message = `${driver} takes pods of ${group} at ${deadline}, whatever budgets say: they did not let the group go before`;
  const about = { ...maintenance, apiVersion: apiVersionOf(maintenanceType), kind: maintenanceType.kind };
  events.record(about, 'Warning', 'DeadlineWillBreakGroup', message);
  const owner = pod && controllerOf(pod);
  if (pod === undefined || owner === undefined) return;
  const { apiVersion, kind, name, uid } = owner;
  const subject = { apiVersion, kind, metadata: { name, uid, namespace: pod.metadata.namespace } };
  events.record(subject, 'Warning', 'DeadlineWillBreakGroup', message);
}
