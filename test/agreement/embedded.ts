/** The embedded host, with the scheduler's budgets beside it. */
import { namespaceType, nodeType } from '../../src/api/resource-types.ts';
import { createDisruptionController } from '../../src/controllers/quorate/disruption/index.ts';
import { createPodUnavailableBudgetController } from '../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { unavailabilityGates } from '../../src/decisions/unavailability/index.ts';
import { defineController, FeatureGates } from '../../src/machinery/runtime/index.ts';
import { PreemptionBudgets } from '../../src/scheduler/budgets.ts';
import { startControlPlane } from '../../src/testkit/index.ts';
import { findDisagreements } from './doors.ts';
import { type Agreement, build, clear, nodesOf } from './host.ts';
import { drawState } from './state.ts';

export async function startEmbeddedAgreement(): Promise<Agreement> {
  let budgets: PreemptionBudgets | undefined;
  const plane = await startControlPlane({
    controllers: [
      createDisruptionController(),
      createPodUnavailableBudgetController(),
      defineController({
        name: 'budgets',
        deps(context) {
          budgets = new PreemptionBudgets(context, unavailabilityGates(new FeatureGates()));
          void budgets.follow();
        },
      }),
    ],
  });
  const { client, clock } = plane;
  const rest = (): Promise<void> => plane.settle();
  const nodes = nodesOf(0);
  for (const name of nodes) await client.create(nodeType, { metadata: { name } });
  return {
    lanes: 1,
    async ask(seed) {
      const namespace = `s${seed}`;
      const state = drawState(seed, { namespace, nodes, workloadRefs: true, groupVersion: 'v1beta1' });
      await client.create(namespaceType, { metadata: { name: namespace } });
      await build(client, state, { namespace, nodes, rest });
      const preempts = (name: string): boolean => budgets?.open()([{ namespace, name }] as never) ?? true;
      const problems = await findDisagreements({ client, clock, namespace, nodes, state, preempts });
      await clear(client, state, { namespace, rest });
      return problems.map((problem) => `seed ${seed}: ${problem}`);
    },
    stop: () => plane.stop(),
  };
}
