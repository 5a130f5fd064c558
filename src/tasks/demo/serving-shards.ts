import { podCondition } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { LWS } from '../../api/lws/types.ts';
import { podType } from '../../api/resource-types.ts';
import { ApiError } from '../../machinery/runtime/index.ts';
import { type EvictionAnswer, askDelete, askEviction } from './ask.ts';
import { type Beat, claim, command, heading, next, output, say } from './beat.ts';
import { postLookout } from './lookout.ts';
import { machine, namespace, parseManifest } from './manifests.ts';
import { countGroups, drawGroups, isUp, listPods, nameOf, readTable } from './read.ts';
import type { StoryHost, Story } from './story.ts';

const AT = 'inference';
const BUDGET = 'llm-serving-budget';
const SHARDS = { 'shard 0': 3, 'shard 1': 3, 'shard 2': 3 };
/** Pods serve once their weights are loaded, which is when the story says so. */
const LOADED = 'example.com/weights-loaded';

const SERVING = `apiVersion: apps.kruise.io/v1alpha1
kind: LeaderWorkerSet
metadata: { name: llm-serving, namespace: ${AT} }
spec:
  replicas: 3              # shards, each a leader and two workers
  selector: { matchLabels: { app: llm-serving } }
  leaderTemplate:
    metadata: { labels: { app: llm-serving, role: leader } }
    spec:
      readinessGates: [{ conditionType: ${LOADED} }]
      terminationGracePeriodSeconds: 1
      containers: [{ name: leader, image: example.com/leader }]
  workerTemplate:
    metadata: { labels: { app: llm-serving, role: worker } }
    spec:
      readinessGates: [{ conditionType: ${LOADED} }]
      terminationGracePeriodSeconds: 1
      containers: [{ name: worker, image: example.com/worker }]`;

const GUARD = `apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: { name: ${BUDGET}, namespace: ${AT} }
spec:
  selector: { matchLabels: { app: llm-serving } }
  maxUnavailable: 1        # shards
  podGroupPolicy:
    groupLabelKey: ${LWS.groupIndex}
    minReadyReplicas: 3    # 1 leader + 2 workers: the shard serves`;

const shardOf = ({ metadata }: Pod): string => `shard ${metadata.labels?.[LWS.groupIndex]}`;

export const servingShards: Story = {
  name: 'serving-shards',
  title: 'Shards of a model stay whole, also when pods are deleted',
  async *tell(stage) {
    const { client } = stage;
    yield* setUp(stage);
    const lookout = await postLookout(stage, { namespace: AT, groups: SHARDS, groupOf: shardOf });
    yield* takeShardDown(stage);
    yield* serveAgain(stage);
    yield heading('What the watch saw');
    const fewest = lookout.fewestWhole();
    yield claim(`At every moment at least ${fewest} of 3 shards served.`, fewest === 2);
    await stage.until('the budget has seen it', async () => (await allowance(client)) === 0);
    yield command(`kubectl get pub -n ${AT}`);
    yield output(...(await budgetTable(client)));
    yield next(
      ['quorate demo airflow-workers', 'let the application choose which pods a downscale removes'],
      [
        'kubectl apply -f examples/shards/serving.yaml',
        'the same on quorate up, with the LeaderWorkerSet of Kubernetes',
      ],
      ['quorate install | kubectl apply -f -', 'the same guard on a real cluster, as an admission webhook'],
    );
  },
};

async function* setUp(stage: StoryHost): AsyncGenerator<Beat> {
  const { apply, client, until } = stage;
  yield heading('Three shards of a model');
  yield say(`A large model is served in three shards. A shard is a leader with two workers, and answers only while all
    three are Ready. A pod is Ready when its weights are loaded, which takes long.`);
  yield command('kubectl apply -f serving.yaml');
  yield output(...SERVING.split('\n'));
  await apply(machine('node-a'), machine('node-b'), machine('node-c'), namespace(AT), ...parseManifest(SERVING));
  yield say('The budget says that one shard may be down: not one pod.');
  yield output(...GUARD.split('\n'));
  await apply(...parseManifest(GUARD));
  for (const shard of Object.keys(SHARDS)) await loadWeights(stage, shard);
  await until('the budget counts three shards', async () => (await allowance(client)) === 1);
  yield* shards(stage);
  yield command(`kubectl get pub -n ${AT}`);
  yield output(...(await budgetTable(client)));
}

async function* takeShardDown(stage: StoryHost): AsyncGenerator<Beat> {
  const { client } = stage;
  yield heading('One worker goes');
  yield say('Someone deletes one worker of shard 0. The budget lets it go:');
  yield command(`kubectl delete pod llm-serving-0-1 -n ${AT}`);
  const first = await remove(stage, 'llm-serving-0-1');
  yield output(...first.lines);
  yield claim('The worker may go, and shard 0 with it.', first.granted);
  yield* shards(stage);

  yield say(`Eight pods are left, and a budget over pods would see no reason to keep them all. But another shard would be
    down. Neither a delete nor an eviction gets through:`);
  yield command(`kubectl delete pod llm-serving-1 -n ${AT}`);
  const leader = await remove(stage, 'llm-serving-1');
  yield output(...leader.lines);
  const worker = { namespace: AT, name: 'llm-serving-2-2' };
  const { spec } = await client.get(podType, worker);
  yield command(`kubectl drain ${spec?.nodeName}   # evicts ${worker.name}`);
  const evicted = await askEviction(client, worker);
  yield output(...evicted.lines);
  yield claim('No pod of the shards that serve may go.', !leader.granted && !evicted.granted);

  yield say('The rest of shard 0 serves nobody, so it may go:');
  const rest = (await listPods(client, AT)).filter((pod) => shardOf(pod) === 'shard 0').map(nameOf);
  yield command(`kubectl delete pods -n ${AT} -l ${LWS.groupIndex}=0`);
  const answers = [];
  for (const name of rest) answers.push(await remove(stage, name));
  yield output(...answers.flatMap(({ lines }) => lines));
  yield claim(
    'All of shard 0 may go.',
    answers.every(({ granted }) => granted),
  );
}

async function* serveAgain(stage: StoryHost): AsyncGenerator<Beat> {
  const { client, until } = stage;
  yield heading('It serves again, and the next may go');
  yield say('The LeaderWorkerSet makes the shard anew. While its weights load, the budget stays shut.');
  await until('shard 0 is made anew', async () => (await listPods(client, AT)).length === 9);
  const early = await remove(stage, 'llm-serving-1');
  yield command(`kubectl delete pod llm-serving-1 -n ${AT}`);
  yield output(...early.lines);
  yield say('The weights are loaded:');
  await loadWeights(stage, 'shard 0');
  await until('the budget allows the next shard', async () => (await allowance(client)) === 1);
  yield* shards(stage);
  const late = await remove(stage, 'llm-serving-1');
  yield command(`kubectl delete pod llm-serving-1 -n ${AT}`);
  yield output(...late.lines);
  yield claim('Refused while shard 0 loaded; granted once it served.', !early.granted && late.granted);
}

/** Sets the condition the pods of a shard wait for, until the shard serves. */
async function loadWeights({ client, until }: StoryHost, shard: string): Promise<void> {
  const conditions = [{ type: LOADED, status: 'True' }];
  await until(`${shard} serves`, async () => {
    const pods = (await listPods(client, AT)).filter((pod) => shardOf(pod) === shard);
    for (const pod of pods) {
      if (pod.status?.phase !== 'Running' || podCondition(pod, LOADED) !== undefined) continue;
      const key = { namespace: AT, name: nameOf(pod) };
      const body = { metadata: { uid: pod.metadata.uid }, status: { conditions } };
      await client
        .patch(podType, key, { type: 'strategic', body }, { subresource: 'status' })
        .catch((error: unknown) => {
          // Replaced in between: its successor is seen in the next look.
          if (!(error instanceof ApiError)) throw error;
        });
    }
    return pods.filter(isUp).length === 3;
  });
}

async function* shards({ client }: StoryHost): AsyncGenerator<Beat> {
  yield output(...drawGroups(countGroups(await listPods(client, AT), SHARDS, shardOf)));
}

const remove = ({ client }: StoryHost, name: string): Promise<EvictionAnswer> =>
  askDelete(client, { namespace: AT, name });

const allowance = async (client: StoryHost['client']): Promise<number | undefined> =>
  (await client.get(POD_UNAVAILABLE_BUDGETS, { namespace: AT, name: BUDGET })).status?.unavailableAllowed;

const budgetTable = (client: StoryHost['client']): Promise<string[]> =>
  readTable(client, `/apis/policy.kruise.io/v1beta1/namespaces/${AT}/podunavailablebudgets`);
