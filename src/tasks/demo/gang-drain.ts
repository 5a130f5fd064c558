import { nodeType, podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { formatExplanation } from '../../decisions/disruption/index.ts';
import { drainNodes, type DrainResult } from '../drain/drain.ts';
import { type EvictionAnswer, askEviction } from './ask.ts';
import { type Beat, claim, command, heading, next, output, say } from './beat.ts';
import { type Lookout, postLookout } from './lookout.ts';
import { machine, namespace, parseManifest } from './manifests.ts';
import { countGroups, drawGroups, drawNodes, isUp, listPods, nameOf, readTable } from './read.ts';
import type { StoryHost, Story } from './story.ts';

const NODES = ['node-a', 'node-b', 'node-c'];
const GANGS = { 'gang-0': 3, 'gang-1': 3 };
/** The picture of the proposal: node-b holds one pod of each gang. */
const PLACES: Readonly<Record<string, string>> = {
  'gang-0-0': 'node-a',
  'gang-0-1': 'node-a',
  'gang-0-2': 'node-b',
  'gang-1-0': 'node-b',
  'gang-1-1': 'node-c',
  'gang-1-2': 'node-c',
};
const BEFORE = 'counting-pods';
const AFTER = 'counting-gangs';

const GROUPS_PATH = `/apis/scheduling.k8s.io/v1beta1/namespaces/${AFTER}/podgroups`;

const gangOf = (pod: Pod): string => nameOf(pod).replace(/-\d+$/, '');

function pod(name: string, { at, gang, node }: { at: string; gang?: string; node?: string }): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: at, labels: { app: 'training' } },
    spec: {
      ...(node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': node } }),
      ...(gang !== undefined && { schedulingGroup: { podGroupName: gang } }),
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'train', image: 'example.com/train' }],
    },
  } as KubeObject;
}

const PODS_BUDGET = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: training, namespace: ${BEFORE} }
spec:
  minAvailable: 3          # pods
  selector: { matchLabels: { app: training } }`;

const GANGS_BUDGET = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: training, namespace: ${AFTER} }
spec:
  minAvailable: 1          # the pods belong to gangs, so: gangs
  selector: { matchLabels: { app: training } }`;

const podGroup = (name: string): string => `apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: { name: ${name}, namespace: ${AFTER} }
spec:
  schedulingPolicy: { gang: { minCount: ${GANGS['gang-0']} } }`;

export const gangDrain: Story = {
  name: 'gang-drain',
  title: 'A drain breaks two gangs at once; then one always trains',
  async *tell(stage) {
    yield* setUp(stage);
    yield* drainCountingPods(stage);
    yield* drainCountingGangs(stage);
    yield next(
      ['quorate demo serving-shards', 'groups guarded against plain deletes too'],
      ['quorate why pdb/NAME', 'where a budget of yours stands, and why'],
      ['quorate drain NODE --dry-run', 'what a drain would do; on any cluster, changes nothing'],
    );
  },
};

async function* setUp({ apply, client, until }: StoryHost): AsyncGenerator<Beat> {
  yield heading('Two gangs on three nodes');
  yield say(`Two training gangs run, three pods each. A gang trains only while all three of its pods run: lose one, and
    the other two wait. node-b happens to hold one pod of each.`);
  await apply(...NODES.map((name) => machine(name)), namespace(BEFORE));
  await apply(...Object.entries(PLACES).map(([name, node]) => pod(name, { at: BEFORE, node })));
  await until('six pods are Ready', async () => (await upPods(client, BEFORE)) === 6);
  yield command(`kubectl get pods -n ${BEFORE} -o wide`);
  yield output(...drawNodes(NODES, await listPods(client, BEFORE)));
}

async function* drainCountingPods(stage: StoryHost): AsyncGenerator<Beat> {
  const { client } = stage;
  yield heading('A budget that counts pods');
  yield say('To keep one gang training, its owner asks for three pods, the size of a gang:');
  yield* applied(stage, PODS_BUDGET);
  await allows(stage, BEFORE, 3);
  const lookout = await postLookout(stage, { namespace: BEFORE, groups: GANGS, groupOf: gangOf });
  yield say('Now node-b is due for maintenance.');
  yield* drained(stage, 'kubectl drain node-b --force', 'Drained');
  yield* gangs(stage, BEFORE);
  yield command(`kubectl get pdb -n ${BEFORE}`);
  yield output(...(await budgetTable(stage, BEFORE)));
  const { status } = await client.get(podDisruptionBudgetType, { namespace: BEFORE, name: 'training' });
  const kept = (status?.currentHealthy ?? 0) >= (status?.desiredHealthy ?? Number.POSITIVE_INFINITY);
  yield claim(
    `The budget was kept: ${status?.currentHealthy} pods are healthy, and it needs ${status?.desiredHealthy}.`,
    kept && status?.currentHealthy === 4,
  );
  yield claim(`And ${lookout.fewestWhole()} gangs train: the drain broke both.`, lookout.fewestWhole() === 0);
}

async function* drainCountingGangs(stage: StoryHost): AsyncGenerator<Beat> {
  const { apply, client, until } = stage;
  yield heading('A budget that counts gangs');
  yield say('The same six pods again, but now each says which gang it belongs to, and the budget asks for one.');
  await client.deleteCollection(podType, { namespace: BEFORE });
  await client.patch(nodeType, { name: 'node-b' }, { type: 'merge', body: { spec: { unschedulable: null } } });
  await until('the first pods are gone', async () => (await listPods(client, BEFORE)).length === 0);
  await apply(namespace(AFTER), ...parseManifest(podGroup('gang-0')), ...parseManifest(podGroup('gang-1')));
  yield command('kubectl apply -f gangs.yaml');
  yield output(...podGroup('gang-0').split('\n'), '--- # gang-1 and the pods likewise');
  await apply(...Object.entries(PLACES).map(([name, node]) => pod(name, { at: AFTER, gang: name.slice(0, -2), node })));
  await until('six pods are Ready', async () => (await upPods(client, AFTER)) === 6);
  yield* applied(stage, GANGS_BUDGET);
  await allows(stage, AFTER, 1);
  yield command(`kubectl get pdb,podgroups -n ${AFTER}`);
  yield output(...(await budgetTable(stage, AFTER)), '', ...(await readTable(client, GROUPS_PATH)));
  const lookout = await postLookout(stage, { namespace: AFTER, groups: GANGS, groupOf: gangOf });

  yield say(`quorate drain looks at all pods of the node together before it touches one, and starts only what it can
    finish:`);
  yield* drained(stage, 'quorate drain node-b --force', 'Refused');
  yield claim('Nothing was touched: both gangs train.', (await upPods(client, AFTER)) === 6);
  yield* evictOneByOne(stage);
  yield* finish(stage, lookout);
}

async function* evictOneByOne(stage: StoryHost): AsyncGenerator<Beat> {
  yield say('kubectl drain asks for one pod after the other. Each answer comes from the same budget:');
  yield command('kubectl drain node-b --force');
  const first = await evict(stage, 'gang-0-2');
  const second = await evict(stage, 'gang-1-0');
  yield output(...first.lines, ...second.lines);
  yield claim('The first gang may go down. The second may not.', first.granted && !second.granted);
  yield say('gang-0 trains no more, so the rest of it can go as well, at no further cost:');
  const rest = [await evict(stage, 'gang-0-0'), await evict(stage, 'gang-0-1')];
  yield output(...rest.flatMap(({ lines }) => lines));
  yield* gangs(stage, AFTER);
  yield claim(
    'All of gang-0 was let go.',
    rest.every(({ granted }) => granted),
  );
}

async function* finish(stage: StoryHost, lookout: Lookout): AsyncGenerator<Beat> {
  const { apply, client, until } = stage;
  yield say('gang-0 starts again on a node that is not being drained. Once it trains, gang-1 may move.');
  await until('gang-0 has gone', async () => (await listPods(client, AFTER)).every((one) => gangOf(one) !== 'gang-0'));
  await client.patch(nodeType, { name: 'node-b' }, { type: 'merge', body: { spec: { unschedulable: true } } });
  await apply(...[0, 1, 2].map((index) => pod(`gang-0-${index}`, { at: AFTER, gang: 'gang-0', node: 'node-a' })));
  await until('gang-0 trains again', async () => (await upPods(client, AFTER)) === 5 + 1);
  await allows(stage, AFTER, 1);
  yield* drained(stage, 'quorate drain node-b --force', 'Drained');
  const pods = await listPods(client, AFTER);
  yield output(...drawNodes(NODES, pods));
  yield claim(
    'node-b is empty.',
    pods.every(({ spec }) => spec?.nodeName !== 'node-b'),
  );
  yield claim(
    `At every moment at least ${lookout.fewestWhole()} gang trained, as the budget asks.`,
    lookout.fewestWhole() === 1,
  );
}

const upPods = async (client: StoryHost['client'], at: string): Promise<number> =>
  (await listPods(client, at)).filter(isUp).length;

async function* gangs({ client }: StoryHost, at: string): AsyncGenerator<Beat> {
  yield output(...drawGroups(countGroups(await listPods(client, at), GANGS, gangOf)));
}

async function* applied({ apply }: StoryHost, manifest: string): AsyncGenerator<Beat> {
  yield command('kubectl apply -f budget.yaml');
  yield output(...manifest.split('\n'));
  await apply(...parseManifest(manifest));
}

const budgetTable = ({ client }: StoryHost, at: string): Promise<string[]> =>
  readTable(client, `/apis/policy/v1/namespaces/${at}/poddisruptionbudgets`);

async function allows({ client, until }: StoryHost, at: string, wanted: number): Promise<void> {
  await until(`the budget allows ${wanted}`, async () => {
    const { status } = await client.get(podDisruptionBudgetType, { namespace: at, name: 'training' });
    return status?.disruptionsAllowed === wanted;
  });
}

async function* drained(stage: StoryHost, typed: string, wanted: DrainResult['outcome']): AsyncGenerator<Beat> {
  const { client, clock } = stage;
  const steps: string[] = [];
  const result = await drainNodes(
    { client, clock, report: { step: (text) => steps.push(text), progress: () => {} } },
    {
      nodes: ['node-b'],
      allOrNothing: true,
      dryRun: false,
      timeoutMs: 60_000,
      rules: {
        force: true,
        ignoreDaemonSets: false,
        deleteEmptyDirData: false,
        skipWaitForDeleteTimeoutSeconds: 0,
      },
    },
  );
  yield command(typed);
  const why = result.explanations.flatMap((explanation) => formatExplanation(explanation, clock.now()));
  yield output(...steps.filter((step) => !step.includes('no controller')), ...why);
  if (result.outcome !== wanted) yield claim(`The drain ends with ${wanted}.`, false);
}

const evict = ({ client }: StoryHost, name: string): Promise<EvictionAnswer> =>
  askEviction(client, { namespace: AFTER, name });
