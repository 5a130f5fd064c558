import { type Maintenance, type MaintenanceStatus, maintenanceType } from '../../../api/quorate/maintenance.ts';
import { apiVersionOf, type ObjectKey } from '../../../api/resource.ts';
import { nodeType } from '../../../api/resource-types.ts';
import { adoptPlan, type Decision, decide, type MaintenanceEvent } from '../../../decisions/maintenance/index.ts';
import { isNotFound, type ReconcileResult, settled } from '../../../machinery/runtime/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import { act } from './act.ts';
import { type MaintenanceDeps, type Memory, newMemory } from './deps.ts';
import { gatherFacts } from './gather.ts';
import { planFor } from './plan.ts';

/** More in one go is not needed: a step at a time leads from one wait to the next. */
const MAX_PASSES = 20;

/**
 * Reads what is so, asks what follows from it, does that, and writes down what came of it: as often as something follows
 * at once. It may be stopped between any two writes; whoever comes next reads the same and goes on.
 */
export async function reconcileMaintenance(deps: MaintenanceDeps, { name }: ObjectKey): Promise<ReconcileResult> {
  const memory = deps.memories.get(name) ?? newMemory();
  deps.memories.set(name, memory);
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const maintenance = await read(deps, name);
    if (maintenance === undefined) {
      deps.memories.delete(name);
      return settled;
    }
    // Others carry it out.
    if (maintenance.spec?.source !== undefined) return settled;
    const facts = await gatherFacts(deps, maintenance, memory);
    const decision = decide(facts);
    if (isPlanDue(decision, memory, facts.now)) {
      memory.plannedAt = facts.now;
      const adopted = adoptPlan(facts, await planFor(deps, facts), decision.plan ?? { cameTo: [], everyMs: 0 });
      await write(deps, maintenance, adopted.status);
      tell(deps, maintenance, adopted.events);
      continue;
    }
    const acted = await act({ deps, memory, maintenance, nodes: facts.nodes }, decision.actions);
    if (acted.conflict) continue;
    if (decision.actions.some(({ kind }) => kind === 'RemoveFinalizer' || kind === 'Delete')) return settled;
    if (!decision.actions.some(({ kind }) => kind === 'AddFinalizer')) {
      await write(deps, maintenance, decision.status);
      tell(deps, maintenance, decision.events);
      deps.countBlocked(memory, decision.status.phase, facts.now);
    }
    if (decision.again !== true && !acted.asked) return lookAgain(deps, decision);
  }
  return { requeueAfterMs: 1 };
}

function isPlanDue({ plan }: Decision, { plannedAt }: Memory, now: number): boolean {
  return plan !== undefined && (plannedAt === undefined || now - plannedAt >= plan.everyMs);
}

function lookAgain({ clock }: MaintenanceDeps, { lookAgainAt }: Decision): ReconcileResult {
  return lookAgainAt === undefined ? settled : { requeueAfterMs: Math.max(1, lookAgainAt - clock.now()) };
}

async function read({ client }: MaintenanceDeps, name: string): Promise<Maintenance | undefined> {
  try {
    return await client.get(maintenanceType, { name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function write({ client }: MaintenanceDeps, maintenance: Maintenance, status: MaintenanceStatus): Promise<void> {
  if (semanticEqual(maintenance.status ?? {}, status)) return;
  await client.updateStatus(maintenanceType, { ...maintenance, status });
}

function tell({ events }: MaintenanceDeps, maintenance: Maintenance, told: readonly MaintenanceEvent[]): void {
  const about = { ...maintenance, apiVersion: apiVersionOf(maintenanceType), kind: maintenanceType.kind };
  for (const { message, node, reason, type } of told) {
    // Events about nodes name them by their name alone, as a kubelet's do.
    const subject =
      node === undefined
        ? about
        : { apiVersion: apiVersionOf(nodeType), kind: nodeType.kind, metadata: { name: node, uid: node } };
    events.record(subject, type, reason, message);
  }
}
