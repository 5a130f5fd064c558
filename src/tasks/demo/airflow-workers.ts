import type { Pod } from '../../api/generated/core-v1.ts';
import { deploymentType, horizontalPodAutoscalerType, podType } from '../../api/resource-types.ts';
import { createPodPicker, leastFirst } from '../../picker-sdk/index.ts';
import { type Beat, claim, command, heading, next, output, say } from './beat.ts';
import { machine, namespace, parseManifest } from './manifests.ts';
import { alignColumns, isUp, listPods, nameOf, readTable } from './read.ts';
import type { StoryHost, Story } from './story.ts';

const PLAIN = 'usual-order';
const PICKED = 'with-picker';
/** Of the six workers, those on node-a have tasks; the others are idle. */
const TASKS = [7, 5, 4];
const USE = { busy: '900Mi', idle: '100Mi' };
const MEMORY = 'nodes.quorate.dev/memory';

/** What the scheduler of the application knows: how many tasks each worker has. */
type Tasks = Map<string, number>;

const workers = (at: string, picker = ''): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: worker, namespace: ${at} }
spec:
  replicas: 6${picker}
  selector: { matchLabels: { app: worker } }
  template:
    metadata: { labels: { app: worker } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: celery
          image: example.com/airflow-worker
          resources: { requests: { cpu: '1' } }`;

const pickerField = (port: number): string => `
  downscalePodPicker:
    timeoutSeconds: 5
    http: { host: 127.0.0.1, port: ${port}, path: /pick, scheme: HTTP }`;

const autoscaler = (at: string): string => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: worker, namespace: ${at} }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: worker }
  minReplicas: 1
  maxReplicas: 10
  behavior: { scaleDown: { stabilizationWindowSeconds: 0 } }
  metrics:
    - type: Resource
      resource:
        name: memory
        target: { type: AverageValue, averageValue: 1000Mi }`;

export const airflowWorkers: Story = {
  name: 'airflow-workers',
  title: 'An autoscaler shrinks a pool of workers; the idle ones go',
  async *tell(stage) {
    yield* usualOrder(stage);
    yield* withPicker(stage);
    yield next(
      ['quorate demo scale-training', 'a training Job that grows and shrinks as one gang'],
      ['npx tsx examples/pickers/least-busy.ts', 'a picker to start from; there is one in Python too'],
      ['quorate up --picker-allow 127.0.0.0/8', 'a control plane that may ask a picker on this machine'],
    );
  },
};

async function* usualOrder(stage: StoryHost): AsyncGenerator<Beat> {
  yield heading('Six workers, half of them idle');
  yield say(`A pool of Airflow workers: the three on node-a run tasks, the three others wait for some. An autoscaler
    looks at the memory they use.`);
  // Room for exactly six workers: three on the large node, one on each small one.
  await stage.apply(
    machine('node-a', { cpu: '3' }),
    ...['b', 'c', 'd'].map((id) => machine(`node-${id}`, { cpu: '1' })),
  );
  const tasks = await startWorkers(stage, PLAIN, workers(PLAIN));
  yield* pool(stage, PLAIN, tasks);
  yield* autoscale(stage, PLAIN, tasks);
  const lost = await lostTasks(stage, PLAIN, tasks);
  yield say(
    'It found memory for three and halved the pool. Which half is not its business: Kubernetes thins out nodes.',
  );
  yield claim(`${lost} of ${total(tasks)} running tasks were lost, while idle workers stay.`, lost > 0);
}

async function* withPicker(stage: StoryHost): AsyncGenerator<Beat> {
  const { client, onEnd, until } = stage;
  yield heading('The application chooses');
  await client.delete(horizontalPodAutoscalerType, { namespace: PLAIN, name: 'worker' });
  await client.delete(deploymentType, { namespace: PLAIN, name: 'worker' }, { propagationPolicy: 'Background' });
  await until('the first pool is gone', async () => (await listPods(client, PLAIN)).length === 0);

  const tasks: Tasks = new Map();
  const calls: string[] = [];
  const picker = createPodPicker(({ candidates, count }) => {
    const { chosen = [], tied = [] } = leastFirst(candidates, count, (pod) => tasks.get(pod));
    calls.push(
      `POST /pick ${spaced({ number_of_pods_requested: count, candidate_pods: candidates })}`,
      `200 ${spaced({ chosen_pods: chosen, tied_pods: tied })}`,
    );
    return { chosen, tied };
  });
  const listening = await picker.listen({ port: 0, host: '127.0.0.1' });
  const { port } = listening;
  onEnd(() => listening.close());

  yield say(`Now the Deployment names a picker: a small HTTP service of the application, asked whenever Ready pods have to
    go. This one knows how many tasks each worker has; it listens on port ${port} of this machine.`);
  yield command('kubectl apply -f workers.yaml');
  yield output(...workers(PICKED, pickerField(port)).split('\n').slice(0, 8), '  …');
  for (const [name, count] of await startWorkers(stage, PICKED, workers(PICKED, pickerField(port)))) {
    tasks.set(name, count);
  }
  yield* pool(stage, PICKED, tasks);
  yield* autoscale(stage, PICKED, tasks);
  yield say('In between, the ReplicaSet asked and was told:');
  yield output(...calls);
  const lost = await lostTasks(stage, PICKED, tasks);
  yield claim('The picker was asked over HTTP.', calls.length >= 2);
  yield claim(`${lost} of ${total(tasks)} running tasks were lost: only idle workers went.`, lost === 0);
}

/** Six Ready workers with their tasks, seen to use memory accordingly. */
async function startWorkers({ apply, client, until }: StoryHost, at: string, manifest: string): Promise<Tasks> {
  await apply(namespace(at), ...parseManifest(manifest));
  await until('six workers are Ready', async () => (await listPods(client, at)).filter(isUp).length === 6);
  const tasks: Tasks = new Map();
  const pods = (await listPods(client, at)).sort(byNode);
  for (const [index, pod] of pods.entries()) {
    const count = TASKS[index] ?? 0;
    tasks.set(nameOf(pod), count);
    const body = { metadata: { annotations: { [MEMORY]: count > 0 ? USE.busy : USE.idle } } };
    await client.patch(podType, { namespace: at, name: nameOf(pod) }, { type: 'merge', body });
  }
  return tasks;
}

async function* autoscale({ apply, client, until }: StoryHost, at: string, tasks: Tasks): AsyncGenerator<Beat> {
  yield command('kubectl apply -f autoscaler.yaml');
  if (at === PLAIN) yield output(...autoscaler(at).split('\n'));
  await apply(...parseManifest(autoscaler(at)));
  await until('the autoscaler shrinks the pool', async () => (await listPods(client, at)).length === 3);
  yield command(`kubectl get hpa,pods -n ${at}`);
  const columns = ['Name', 'Targets', 'MinPods', 'MaxPods', 'Replicas'];
  yield output(...(await readTable(client, `/apis/autoscaling/v2/namespaces/${at}/horizontalpodautoscalers`, columns)));
  yield* pool({ client }, at, tasks);
}

async function* pool({ client }: Pick<StoryHost, 'client'>, at: string, tasks: Tasks): AsyncGenerator<Beat> {
  const pods = (await listPods(client, at)).sort(byNode);
  const left = pods.map((pod) => [
    nodeOf(pod),
    `${isUp(pod) ? '●' : '○'} ${nameOf(pod)}`,
    describe(tasks.get(nameOf(pod))),
  ]);
  const names = new Set(pods.map(nameOf));
  const gone = [...tasks].filter(([name]) => !names.has(name));
  const lost = gone.map(([name, count]) => ['removed', `○ ${name}`, describe(count)]);
  yield output(...alignColumns([...left, ...lost]));
}

async function lostTasks({ client }: StoryHost, at: string, tasks: Tasks): Promise<number> {
  const left = new Set((await listPods(client, at)).map(nameOf));
  return [...tasks].reduce((sum, [name, count]) => (left.has(name) ? sum : sum + count), 0);
}

/** JSON that can be broken over lines. */
const spaced = (value: object): string => JSON.stringify(value).replaceAll(',"', ', "');

const total = (tasks: Tasks): number => [...tasks.values()].reduce((sum, count) => sum + count, 0);

const describe = (count = 0): string => (count === 0 ? 'idle' : `${count} tasks`);

const nodeOf = ({ spec }: Pod): string => spec?.nodeName ?? '';

const byNode = (a: Pod, b: Pod): number => (nodeOf(a) + nameOf(a) < nodeOf(b) + nameOf(b) ? -1 : 1);
