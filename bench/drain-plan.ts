/** A plan for an upgrade of a large fleet, against draining it node by node. */
import {
  countNaiveDisruptions,
  planDrain,
  type PlanPod,
  type PlanQuestion,
  type PlanUnit,
} from '../src/decisions/drain-plan/index.ts';
import { seededRandom } from '../src/machinery/values/index.ts';
import { report } from './report.ts';

const NODES = 1_000;
const SLOTS = 24;
const BUDGETS = 100;

/** 2,500 groups of eight over all nodes; every node is drained and comes back, one budget lets two groups go at a time. */
function fleet(): PlanQuestion {
  const random = seededRandom(7);
  const used = Array.from({ length: NODES }, () => 0);
  const place = (): number => {
    for (;;) {
      const node = Math.floor(random() * NODES);
      if ((used[node] ?? 0) < SLOTS) return node;
    }
  };
  const pods: PlanPod[] = [];
  const units: PlanUnit[] = [];
  for (let group = 0; group < 2_500; group += 1) {
    units.push({ id: `g${group}`, budgets: [`b${group % BUDGETS}`], healthy: 8, needed: 8, wholesale: false });
    for (let member = 0; member < 8; member += 1) {
      const node = place();
      used[node] = (used[node] ?? 0) + 1;
      pods.push({ id: `g${group}-${member}`, node: `n${node}`, unit: `g${group}`, requests: [1] });
    }
  }
  return {
    resources: ['slots'],
    nodes: used
      .map((taken, index) => ({ name: `n${index}`, free: [SLOTS - taken], drain: true }))
      .concat(Array.from({ length: 50 }, (_, index) => ({ name: `new${index}`, free: [SLOTS], drain: false }))),
    pods,
    units,
    budgets: Array.from({ length: BUDGETS }, (_, index) => ({ id: `b${index}`, allowance: 2 })),
    nodesReturn: true,
  };
}

export function benchDrainPlan(): void {
  const asked = fleet();
  const before = process.cpuUsage();
  const started = performance.now();
  const plan = planDrain(asked);
  const seconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(before);
  const naive = countNaiveDisruptions(asked);
  const saved = 1 - plan.disruptions / naive.disruptions;
  const what = `drain plan: ${NODES} nodes, ${asked.pods.length} pods`;
  report(what, `${seconds.toFixed(1)} s (${((cpu.user + cpu.system) / 1e6).toFixed(1)} s of processor)`, {
    target: 'under 10 s',
    met: seconds < 10,
  });
  report(
    `drain plan: ${plan.disruptions} groups down, node by node ${naive.disruptions}`,
    `${(saved * 100).toFixed(0)} % fewer, ${plan.hitAgain} hit again, ${plan.blocked.length} blocked`,
    { target: 'at least 30 % fewer, none blocked', met: saved >= 0.3 && plan.blocked.length === 0 },
  );
}
