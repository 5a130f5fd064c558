/** Plans for upgrades of large fleets, against draining them node by node. */
import type { Node, Pod } from '../src/api/generated/core-v1.ts';
import {
  countNaiveDisruptions,
  planDrain,
  type PlanPod,
  type PlanQuestion,
  type PlanUnit,
} from '../src/decisions/drain-plan/index.ts';
import { Cluster, podFacts } from '../src/decisions/placement/index.ts';
import { seededRandom } from '../src/machinery/values/index.ts';
import { report } from './report.ts';

const BUDGETS = 100;
const MEMBERS = 8;
const GPU = 'nvidia.com/gpu';
const ZONE = 'topology.kubernetes.io/zone';

interface FleetOptions {
  readonly nodes: number;
  readonly spare: number;
  readonly groups: number;
  readonly slots: number;
  readonly zones: number;
  /** What a pod takes, and a node has `slots` times. */
  readonly resource: string;
}

/** Groups of eight over all nodes; every node is drained and comes back, one budget lets two groups go at a time. */
function fleet({ groups, nodes, resource, slots, spare, zones }: FleetOptions): PlanQuestion {
  const random = seededRandom(7);
  const cluster = new Cluster();
  const used = Array.from({ length: nodes }, () => 0);
  const zoneOf = (node: number): string => `z${node % zones}`;
  const setNode = (name: string, zone: string): void => {
    const node: Node = {
      metadata: { name, labels: { 'kubernetes.io/hostname': name, [ZONE]: zone } },
      status: {
        allocatable: { cpu: '192', memory: '2Ti', pods: '110', [resource]: String(slots) },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    };
    cluster.setNode(node);
  };
  for (let index = 0; index < nodes; index += 1) setNode(`n${index}`, zoneOf(index));
  for (let index = 0; index < spare; index += 1) setNode(`new${index}`, zoneOf(index));
  const pods: PlanPod[] = [];
  const units: PlanUnit[] = [];
  for (let group = 0; group < groups; group += 1) {
    const id = `g${group}`;
    // With one zone every other group could be anywhere; with several, every second one must stay together in its own.
    const together = zones > 1 && group % 2 === 0;
    const home = Math.floor(group / 2) % zones;
    units.push({
      id,
      budgets: [`b${group % BUDGETS}`],
      healthy: MEMBERS,
      needed: MEMBERS,
      wholesale: false,
      ...(together && { topology: [{ key: ZONE, mode: 'Required' as const }] }),
    });
    for (let member = 0; member < MEMBERS; member += 1) {
      let at = Math.floor(random() * nodes);
      while ((used[at] ?? 0) >= slots || (together && at % zones !== home)) at = (at + 1) % nodes;
      used[at] = (used[at] ?? 0) + 1;
      const pod: Pod = {
        metadata: { name: `${id}-${member}`, namespace: 'fleet', uid: `${id}-${member}`, labels: { app: id } },
        spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1', memory: '8Gi', [resource]: '1' } } }] },
      };
      const facts = podFacts(pod, cluster.resources);
      cluster.place(facts, `n${at}`);
      pods.push({ id: `fleet/${id}-${member}`, node: `n${at}`, unit: id, facts, replacement: facts });
    }
  }
  return {
    cluster,
    nodes: cluster.nodes.map(({ name }) => ({ name, drain: !name.startsWith('new') })),
    pods,
    units,
    budgets: Array.from({ length: BUDGETS }, (_, index) => ({ id: `b${index}`, allowance: 2 })),
    nodesReturn: true,
  };
}

export function benchDrainPlan(): void {
  measure({ nodes: 1_000, spare: 50, groups: 2_500, slots: 24, zones: 1, resource: 'example.com/slots' }, 10);
  measure({ nodes: 5_000, spare: 250, groups: 12_500, slots: 24, zones: 4, resource: GPU }, 20);
}

function measure(options: FleetOptions, target: number): void {
  const asked = fleet(options);
  const before = process.cpuUsage();
  const started = performance.now();
  const plan = planDrain(asked);
  const seconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(before);
  const naive = countNaiveDisruptions(asked);
  const saved = 1 - plan.disruptions / naive.disruptions;
  const memory = process.resourceUsage().maxRSS / 1024 / 1024;
  const zones = options.zones > 1 ? `, GPUs in ${options.zones} zones` : '';
  const what = `drain plan: ${options.nodes} nodes, ${asked.pods.length} pods${zones}`;
  report(
    what,
    `${seconds.toFixed(1)} s (${((cpu.user + cpu.system) / 1e6).toFixed(1)} s of processor), ${memory.toFixed(2)} GB at most`,
    { target: `under ${target} s and 2 GB`, met: seconds < target && memory < 2 },
  );
  report(
    `drain plan: ${plan.disruptions} groups down, node by node ${naive.disruptions}`,
    `${(saved * 100).toFixed(0)} % fewer, ${plan.hitAgain} hit again, ${plan.blocked.length} blocked`,
    { target: 'at least 30 % fewer, none blocked', met: saved >= 0.3 && plan.blocked.length === 0 },
  );
}
