import type { Pod } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { nodeType, podDisruptionBudgetType } from '../../api/resource-types.ts';
import type { PlanStep } from '../../decisions/drain-plan/index.ts';
import { evictPod } from '../../machinery/runtime/evict-pod.ts';
import { planClusterDrain, type PlannedDrain } from '../plan/index.ts';
import { type Beat, claim, command, heading, next, output, say } from './beat.ts';
import { type Lookout, postLookout } from './lookout.ts';
import { machine, namespace, parseManifest } from './manifests.ts';
import { alignColumns, isUp, listPods, readTable } from './read.ts';
import { type StoryHost, type Story, StoryError } from './story.ts';

const AT = 'training';
const RACKS = 4;
const NODES_PER_RACK = 4;
const SPARE_NODES = 4;
const GANG_SIZE = 4;
const GANGS_DOWN = 2;
/** What an upgrade changes on a node. */
const VERSION = 'example.com/version';

const nameNode = (index: number): string => `node-${String(index).padStart(2, '0')}`;
const nameGang = (index: number): string => `gang-${String(index).padStart(2, '0')}`;
const gangOf = ({ metadata }: Pod): string | undefined => metadata.labels?.['gang'];
const GANGS = Array.from({ length: RACKS * NODES_PER_RACK }, (_, index) => nameGang(index));
const NODES = Array.from({ length: RACKS * NODES_PER_RACK + SPARE_NODES }, (_, index) => nameNode(index));

const gang = (name: string): string => `apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: { name: ${name}, namespace: ${AT} }
spec:
  schedulingPolicy: { gang: { minCount: ${GANG_SIZE} } }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: ${name}, namespace: ${AT} }
spec:
  replicas: ${GANG_SIZE}
  podManagementPolicy: Parallel
  selector: { matchLabels: { gang: ${name} } }
  template:
    metadata: { labels: { app: training, gang: ${name} } }
    spec:
      schedulingGroup: { podGroupName: ${name} }
      terminationGracePeriodSeconds: 1
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: { matchLabels: { gang: ${name} } }
      containers:
        - { name: train, image: example.com/train, resources: { requests: { cpu: '1' } } }`;

const BUDGET = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: training, namespace: ${AT} }
spec:
  maxUnavailable: ${GANGS_DOWN}        # gangs
  selector: { matchLabels: { app: training } }`;

export const upgrade: Story = {
  name: 'upgrade',
  title: 'Upgrade 20 nodes under 16 gangs; each goes down just once',
  async *tell(stage) {
    yield* setUp(stage);
    const planned = yield* plan(stage);
    const groups = Object.fromEntries(GANGS.map((name) => [name, GANG_SIZE]));
    const lookout = await postLookout(stage, { namespace: AT, groups, groupOf: gangOf });
    yield* carryOut(stage, planned);
    yield* compare(stage, planned, lookout);
    yield next(
      ['quorate plan drain --all', 'such a plan for a cluster of yours; changes nothing'],
      ['quorate plan drain --selector pool=old -o mermaid', 'some nodes only, as a picture'],
      ['npm start', 'a control plane to try all of this on, with kubectl'],
    );
  },
};

async function* setUp(stage: StoryHost): AsyncGenerator<Beat> {
  const { apply, client, until } = stage;
  yield heading(`${NODES.length} nodes, ${GANGS.length} gangs`);
  yield say(`${GANGS.length} training gangs of ${GANG_SIZE} pods run on ${NODES.length - SPARE_NODES} nodes; each gang is
    spread over ${GANG_SIZE} nodes, and each node holds a pod of ${GANG_SIZE} gangs. ${SPARE_NODES} nodes are empty. At
    most ${GANGS_DOWN} gangs may be down at a time.`);
  await apply(namespace(AT));
  // Racks come up one after the other, so that each takes its own gangs.
  for (let rack = 0; rack < RACKS; rack += 1) {
    const from = rack * NODES_PER_RACK;
    await apply(...NODES.slice(from, from + NODES_PER_RACK).map(old));
    await apply(...GANGS.slice(from, from + NODES_PER_RACK).flatMap((name) => parseManifest(gang(name))));
    const wanted = (from + NODES_PER_RACK) * GANG_SIZE;
    await until(`${wanted} pods train`, async () => (await listPods(client, AT)).filter(isUp).length === wanted);
  }
  await apply(...NODES.slice(-SPARE_NODES).map(old), ...parseManifest(BUDGET));
  await allowed(stage);
  yield command('kubectl apply -f budget.yaml');
  yield output(...BUDGET.split('\n'));
  yield* drawFleet(stage);
}

/** A machine before its upgrade, with room for four pods. */
function old(name: string): KubeObject {
  const node = machine(name, { cpu: '4' });
  return { ...node, metadata: { ...node.metadata, labels: { ...node.metadata.labels, [VERSION]: 'old' } } };
}

async function* plan({ client, clock }: StoryHost): AsyncGenerator<Beat, PlannedDrain> {
  yield heading('The plan');
  yield say(`Every node must be emptied, upgraded and given back. Node after node, whatever lands on a node that has not
    had its turn is moved again. The plan cordons all of them first, takes a gang off all of its nodes at once, and
    checks at each step that it fits elsewhere.`);
  const request = { nodes: [], all: true, nodesReturn: true, now: clock.now() };
  const planned = await planClusterDrain(client, request);
  yield command('quorate plan drain --all');
  const rows = planned.plan.steps.map(({ completes, evictions }, index) => [
    String(index + 1),
    evictions.map(({ unit }) => shortUnit(unit)).join(' ') || '-',
    completes.join(' ') || '-',
  ]);
  yield output(...alignColumns([['STEP', 'GOES DOWN', 'EMPTY AFTERWARDS'], ...rows]));
  const { blocked, disruptions, lowerBound } = planned.plan;
  yield claim(
    `${disruptions} disruptions; no plan has fewer than ${lowerBound}. Node after node: ${planned.naive.disruptions}.`,
    blocked.length === 0 && disruptions === lowerBound && planned.naive.disruptions > disruptions,
  );
  return planned;
}

async function* carryOut(stage: StoryHost, { plan }: PlannedDrain): AsyncGenerator<Beat> {
  const { client } = stage;
  yield heading('The upgrade');
  yield say('Now for real: every pod of the plan is asked for through the eviction API, and the budget has its say.');
  const cordon = { type: 'merge', body: { spec: { unschedulable: true } } } as const;
  for (const name of NODES) await client.patch(nodeType, { name }, cordon);
  yield command('kubectl cordon -l example.com/version=old');
  const { items } = await client.list(nodeType, { fieldSelector: 'spec.unschedulable=true' });
  yield output(`${items.length} nodes cordoned`);
  for (const [index, step] of plan.steps.entries()) {
    const evicted = await runStep(stage, step);
    const what = evicted === 0 ? 'nothing to evict' : `${evicted} pods evicted, all train again`;
    const done = step.completes.length === 0 ? '' : `; upgraded ${step.completes.join(' ')}`;
    yield output(`step ${index + 1}: ${what}${done}`);
  }
}

/** Evicts what the step says, waits until all gangs train again, upgrades the nodes that are empty. */
async function runStep(stage: StoryHost, { completes, evictions }: PlanStep): Promise<number> {
  const { client, until } = stage;
  const ids = evictions.flatMap(({ pods }) => pods);
  for (const id of ids) {
    const [at = '', name = ''] = id.split('/');
    const answer = await evictPod(client, { namespace: at, name });
    if (answer.kind !== 'evicted') throw new StoryError(`The budget refused a pod of the plan, ${id}`);
  }
  const wanted = GANGS.length * GANG_SIZE;
  await until('all gangs train again', async () => (await listPods(client, AT)).filter(isUp).length === wanted);
  await allowed(stage);
  for (const name of completes) {
    const body = { metadata: { labels: { [VERSION]: 'new' } }, spec: { unschedulable: null } };
    await client.patch(nodeType, { name }, { type: 'merge', body });
  }
  return ids.length;
}

async function* compare(stage: StoryHost, { naive, plan }: PlannedDrain, lookout: Lookout): AsyncGenerator<Beat> {
  const { client } = stage;
  yield heading('What the watch saw');
  yield command(`kubectl get nodes -L ${VERSION}; kubectl get pdb -n ${AT}`);
  yield* drawFleet(stage);
  yield output(...(await readTable(client, `/apis/policy/v1/namespaces/${AT}/poddisruptionbudgets`)));
  const { items } = await client.list(nodeType, { labelSelector: `${VERSION}=new` });
  yield claim(`${items.length} of ${NODES.length} nodes are upgraded.`, items.length === NODES.length);
  yield claim(
    `Gangs went down ${lookout.timesDown()} times, as planned; ${lookout.downAgain()} of them twice.`,
    lookout.timesDown() === plan.disruptions && lookout.downAgain() === 0,
  );
  const fewest = lookout.fewestWhole();
  yield claim(
    `At every moment at least ${fewest} of ${GANGS.length} trained; the budget asks for ${GANGS.length - GANGS_DOWN}.`,
    fewest >= GANGS.length - GANGS_DOWN,
  );
  yield claim(
    `Node after node it would have been ${naive.disruptions}: ${percent(plan.disruptions, naive.disruptions)} fewer this way.`,
    plan.disruptions < naive.disruptions,
  );
}

/** One line for every four nodes: how many pods serve on each. */
async function* drawFleet({ client }: StoryHost): AsyncGenerator<Beat> {
  const pods = await listPods(client, AT);
  const { items } = await client.list(nodeType);
  const cells = items.map(({ metadata }) => {
    const { labels, name = '' } = metadata;
    const here = pods.filter((pod) => pod.spec?.nodeName === name && isUp(pod)).length;
    return `${name} ${labels?.[VERSION]} ${'●'.repeat(here).padEnd(GANG_SIZE, '·')}`;
  });
  const rows = Array.from({ length: Math.ceil(cells.length / 4) }, (_, row) => cells.slice(row * 4, row * 4 + 4));
  yield output(...alignColumns(rows));
}

async function allowed({ client, until }: StoryHost): Promise<void> {
  await until('the budget is whole', async () => {
    const { status } = await client.get(podDisruptionBudgetType, { namespace: AT, name: 'training' });
    return status?.disruptionsAllowed === GANGS_DOWN && status.currentHealthy === GANGS.length;
  });
}

const shortUnit = (unit: string): string => unit.split('/').at(-1) ?? unit;

const percent = (part: number, whole: number): string => `${Math.round(100 - (part / whole) * 100)} %`;
