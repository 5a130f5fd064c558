import type { PodGroup as CountingGroup } from '../../api/generated/scheduling-v1alpha1.ts';
import type { PodGroup, Workload } from '../../api/generated/scheduling-v1beta1.ts';
import { builtinType } from '../../api/registry.ts';
import type { ResourceType } from '../../api/resource.ts';
import { jobType } from '../../api/resource-types.ts';
import { type Beat, claim, command, heading, next, output, say } from './beat.ts';
import { machine, namespace, parseManifest } from './manifests.ts';
import { drawNodes, isUp, listPods, readTable } from './read.ts';
import { type StoryHost, type Story, StoryError } from './story.ts';

const workloadType = builtinType('Workload', 'scheduling.k8s.io', 'v1beta1') as ResourceType<Workload>;
const podGroupType = builtinType('PodGroup', 'scheduling.k8s.io', 'v1beta1') as ResourceType<PodGroup>;
/** The version whose status says how many pods have a node. */
const countingType = builtinType('PodGroup', 'scheduling.k8s.io', 'v1alpha1') as ResourceType<CountingGroup>;

const AT = 'training';
const NODES = ['node-a', 'node-b', 'node-c', 'node-d'];
const GPUS_PER_NODE = 2;
const COLUMNS = ['Name', 'Min Count', 'Pods', 'Scheduled'];

const training = (name: string, parallelism: number): string => `apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}
  namespace: ${AT}
  annotations: { scheduling.quorate.dev/gang: 'true' }   # all pods, or none
spec:
  parallelism: ${parallelism}
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
        - name: worker
          image: example.com/train
          resources: { limits: { example.com/gpu: '1' } }`;

export const scaleTraining: Story = {
  name: 'scale-training',
  title: 'A training Job grows from 4 to 8 pods and back, as one gang',
  async *tell(stage) {
    const start = yield* startJob(stage);
    yield* resize(stage, { to: 8, start, why: 'Four more GPUs are free, so the Job is made twice as wide.' });
    yield* resize(stage, { to: 4, start, why: 'And back, when others need them:' });
    yield* allOrNone(stage);
    yield next(
      ['quorate demo upgrade', 'upgrade 20 nodes under gangs like this one'],
      ['kubectl explain podgroup.spec.schedulingPolicy', 'what a gang can ask for'],
      ['kubectl apply -f examples/gangs/training.yaml', 'gangs without a Job, on quorate up'],
    );
  },
};

interface Group {
  readonly workload: Workload;
  readonly podGroup: PodGroup;
}

async function* startJob(stage: StoryHost): AsyncGenerator<Beat, Group> {
  const { apply, client, until } = stage;
  yield heading('A Job that is a gang');
  yield say(`Four nodes with ${GPUS_PER_NODE} GPUs each. A training Job of four pods asks to be placed as a gang: fewer
    than four would only hold GPUs and wait for the rest.`);
  await apply(...NODES.map((name) => machine(name, { 'example.com/gpu': String(GPUS_PER_NODE) })), namespace(AT));
  yield command('kubectl apply -f train.yaml');
  yield output(...training('train', 4).split('\n'));
  await apply(...parseManifest(training('train', 4)));
  await until('four pods train', async () => (await upPods(stage, 'train')) === 4);
  await until('the gang is seen as placed', async () => (await countPlaced(stage)) === 4);
  yield say('The Job made a Workload, which says how such gangs are to be placed, and a PodGroup: this gang.');
  yield* groups(stage);
  yield output(...drawNodes(NODES, await listPods(client, AT)));
  return readGroup(stage);
}

async function* resize(
  stage: StoryHost,
  { start, to, why }: { start: Group; to: number; why: string },
): AsyncGenerator<Beat> {
  const { client, until } = stage;
  yield heading(`Parallelism ${to}`);
  yield say(why);
  yield command(`kubectl patch job train -n ${AT} -p '{"spec":{"parallelism":${to}}}'`);
  await client.patch(jobType, { namespace: AT, name: 'train' }, { type: 'merge', body: { spec: { parallelism: to } } });
  await until(`${to} pods train`, async () => (await upPods(stage, 'train')) === to);
  await until('the surplus is gone', async () => (await listPods(client, AT)).length === to);
  await until(`the gang needs ${to}`, async () => minimumOf((await readGroup(stage)).podGroup) === to);
  await until(`${to} pods are seen as placed`, async () => (await countPlaced(stage)) === to);
  yield* groups(stage);
  yield output(...drawNodes(NODES, await listPods(client, AT)));
  const { podGroup, workload } = await readGroup(stage);
  const kept = (a: Workload | PodGroup, b: Workload | PodGroup): boolean => a.metadata.uid === b.metadata.uid;
  yield claim(
    `Same Workload (uid ${workload.metadata.uid?.slice(0, 8)}), same PodGroup; the gang now needs ${minimumOf(podGroup)}.`,
    kept(workload, start.workload) && kept(podGroup, start.podGroup) && minimumOf(podGroup) === to,
  );
}

async function* allOrNone(stage: StoryHost): AsyncGenerator<Beat> {
  const { apply, client, until } = stage;
  yield heading('All or none');
  yield say('Four GPUs are free again. A second Job wants six. Four of its pods would fit, so how many are placed?');
  yield command('kubectl apply -f greedy.yaml   # the same, with parallelism 6');
  await apply(...parseManifest(training('greedy', 6)));
  await until('the scheduler has given its answer', async () => (await conditionOf(stage, 'greedy')) !== undefined);
  yield* groups(stage);
  const condition = await conditionOf(stage, 'greedy');
  yield output(`${condition?.reason}: ${condition?.message}`);
  const placed = (await podsOf(stage, 'greedy')).filter(({ spec }) => spec?.nodeName).length;
  yield claim(`${placed} of 6 pods were placed: nothing is held that does not train.`, placed === 0);
  yield say('The first Job ends, and the gang fits.');
  yield command(`kubectl delete job train -n ${AT}`);
  await client.delete(jobType, { namespace: AT, name: 'train' }, { propagationPolicy: 'Background' });
  await until('the second Job trains', async () => (await upPods(stage, 'greedy')) === 6);
  yield output(...drawNodes(NODES, await listPods(client, AT)));
  yield claim('All six at once.', (await upPods(stage, 'greedy')) === 6);
}

async function* groups({ client }: StoryHost): AsyncGenerator<Beat> {
  const path = (plural: string): string => `/apis/scheduling.k8s.io/v1beta1/namespaces/${AT}/${plural}`;
  yield command(`kubectl get workloads,podgroups -n ${AT}`);
  yield output(
    ...(await readTable(client, path('workloads'))),
    '',
    ...(await readTable(client, path('podgroups'), COLUMNS)),
  );
}

const podsOf = ({ client }: StoryHost, job: string) => listPods(client, AT, `job-name=${job}`);

const upPods = async (stage: StoryHost, job: string): Promise<number> => (await podsOf(stage, job)).filter(isUp).length;

/** The one Workload and PodGroup there are while a single Job is. */
async function readGroup({ client }: StoryHost): Promise<Group> {
  const [workload] = (await client.list(workloadType, { namespace: AT })).items;
  const [podGroup] = (await client.list(podGroupType, { namespace: AT })).items;
  if (workload === undefined || podGroup === undefined) throw new StoryError('The Job made no Workload and PodGroup');
  return { workload, podGroup };
}

const countPlaced = async ({ client }: StoryHost): Promise<number> =>
  (await client.list(countingType, { namespace: AT })).items.reduce(
    (sum, { status }) => sum + (status?.scheduledPods ?? 0),
    0,
  );

const minimumOf = ({ spec }: PodGroup): number | undefined => spec?.schedulingPolicy?.gang?.minCount;

async function conditionOf({ client }: StoryHost, job: string) {
  const { items } = await client.list(podGroupType, { namespace: AT });
  const group = items.find(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === job));
  return group?.status?.conditions?.find(({ status }) => status === 'False');
}
