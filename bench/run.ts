/** `npm run bench`: every measurement in turn. The name of one runs it alone. */
import { benchDecisions } from './decisions.ts';
import { benchDrainPlan } from './drain-plan.ts';
import { benchEvictions } from './evictions.ts';
import { benchOperator } from './operator/bench.ts';
import { benchRanking } from './ranking.ts';
import { benchScaleReplicas } from './scale-replicas.ts';
import { benchScheduling } from './scheduling/bench.ts';
import { benchSimulatedNodes } from './simulated-nodes.ts';
import { benchUnavailability } from './unavailability.ts';

const all: Readonly<Record<string, () => void | Promise<void>>> = {
  ranking: benchRanking,
  decisions: benchDecisions,
  evictions: benchEvictions,
  unavailability: benchUnavailability,
  'drain-plan': benchDrainPlan,
  'scale-replicas': benchScaleReplicas,
  'simulated-nodes': benchSimulatedNodes,
  scheduling: () => benchScheduling(),
  operator: benchOperator,
};

const asked = process.argv.slice(2);
for (const [name, run] of Object.entries(all)) {
  if (asked.length === 0 || asked.includes(name)) await run();
}
