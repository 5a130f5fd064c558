/** `kubectl rollout` and `kubectl scale`, an autoscaler and a pod picker on a running host. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { createPodPicker, leastFirst } from '../../src/picker-sdk/index.ts';
import { startHost } from './host.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

let host: EmbeddedHost;
let kubectl: Kubectl;
let picker: Server;
/** What the application knows of its pods. */
const load = new Map<string, number>();

beforeAll(async () => {
  const service = createPodPicker(({ candidates, count }) => leastFirst(candidates, count, (pod) => load.get(pod)));
  picker = createServer(service.handler);
  await new Promise<void>((resolve) => picker.listen(0, '127.0.0.1', resolve));
  host = await startHost({ pickers: { pickerAddresses: { allow: ['127.0.0.1'] } } });
  kubectl = createKubectl(host.kubeconfig);
  await kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s']);
}, 300_000);

afterAll(async () => {
  kubectl?.close();
  await host?.stop();
  picker?.close();
});

const rolledOut = (name: string) => kubectl.run(['rollout', 'status', `deployment/${name}`, '--timeout=120s']);
const image = (name: string) =>
  kubectl.out('get', `deployment/${name}`, '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
const revisions = async (name: string): Promise<string[]> =>
  (await kubectl.out('rollout', 'history', `deployment/${name}`))
    .split('\n')
    .flatMap((line) => /^\d+/.exec(line) ?? []);
const podsOf = async (app: string): Promise<string[]> => {
  const text = await kubectl.out('get', 'pods', '-l', `app=${app}`, '-o', 'jsonpath={.items[*].metadata.name}');
  return text.split(' ').filter((name) => name !== '');
};

test('rollout status, history, undo, pause, resume and restart do what they do on Kubernetes', async () => {
  await kubectl.run(['create', 'deployment', 'web', '--image=a:1', '--replicas=3']);
  expect((await rolledOut('web')).stdout).toContain('deployment "web" successfully rolled out');

  await kubectl.run(['set', 'image', 'deployment/web', 'a=a:2']);
  await kubectl.run(['annotate', 'deployment/web', 'kubernetes.io/change-cause=second']);
  await rolledOut('web');
  expect(await revisions('web')).toEqual(['1', '2']);
  // The controller copies the cause after it has seen the annotation, which nothing above waits for.
  const history = () => kubectl.out('rollout', 'history', 'deployment/web');
  await expect.poll(history, { timeout: 120_000 }).toMatch(/2\s+second/);
  expect(await kubectl.out('rollout', 'history', 'deployment/web', '--revision=1')).toContain('a:1');

  await kubectl.run(['rollout', 'undo', 'deployment/web']);
  await rolledOut('web');
  expect(await image('web')).toBe('a:1');
  expect(await revisions('web')).toEqual(['2', '3']);
  await kubectl.run(['rollout', 'undo', 'deployment/web', '--to-revision=2']);
  await rolledOut('web');
  expect(await image('web')).toBe('a:2');

  await kubectl.run(['rollout', 'pause', 'deployment/web']);
  await kubectl.run(['set', 'image', 'deployment/web', 'a=a:3']);
  await kubectl.run([
    'wait',
    '--for=jsonpath={.status.conditions[?(@.type=="Progressing")].reason}=DeploymentPaused',
    'deployment/web',
    '--timeout=120s',
  ]);
  expect(
    await kubectl.out(
      'get',
      'rs',
      '-l',
      'app=web',
      '-o',
      'jsonpath={.items[*].spec.template.spec.containers[0].image}',
    ),
  ).not.toContain('a:3');
  await kubectl.run(['rollout', 'resume', 'deployment/web']);
  await rolledOut('web');
  expect(await revisions('web')).toEqual(['3', '4', '5']);

  const before = await podsOf('web');
  await kubectl.run(['rollout', 'restart', 'deployment/web']);
  await rolledOut('web');
  // The last old pods may still be on their way out.
  const left = async () => (await podsOf('web')).filter((name) => before.includes(name));
  await expect.poll(left, { timeout: 120_000 }).toEqual([]);
}, 300_000);

test('scale honours --current-replicas, and describe tells the story', async () => {
  await kubectl.run(['create', 'deployment', 'sized', '--image=a:1', '--replicas=2']);
  await rolledOut('sized');
  await kubectl.run(['scale', 'deployment/sized', '--current-replicas=2', '--replicas=4']);
  await rolledOut('sized');
  expect(await podsOf('sized')).toHaveLength(4);
  const refused = await kubectl.run(['scale', 'deployment/sized', '--current-replicas=2', '--replicas=9'], {
    fails: true,
  });
  expect(refused.stderr).toContain('Expected replicas to be 2, was 4');
  expect(await kubectl.out('describe', 'deployment', 'sized')).toContain('ScalingReplicaSet');
}, 300_000);

const worker = (port: number) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: worker }
spec:
  replicas: 4
  selector: { matchLabels: { app: worker } }
  downscalePodPicker: { timeoutSeconds: 10, http: { host: 127.0.0.1, port: ${port}, scheme: http } }
  template:
    metadata: { labels: { app: worker }, annotations: { nodes.quorate.dev/cpu: 10m } }
    spec: { containers: [{ name: main, image: w, resources: { requests: { cpu: 100m } } }] }
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: worker }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: worker }
  minReplicas: 2
  maxReplicas: 8
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } } }]
  behavior: { scaleDown: { stabilizationWindowSeconds: 0 } }
`;

test('an autoscaler shrinks a Deployment, and its picker decides who goes', async () => {
  const [deployment, autoscaler] = worker((picker.address() as AddressInfo).port).split('---') as [string, string];
  await kubectl.run(['apply', '-f', '-'], { stdin: deployment });
  await rolledOut('worker');
  expect(await kubectl.out('get', 'deployment/worker', '-o', 'jsonpath={.spec.downscalePodPicker.http.scheme}')).toBe(
    'HTTP',
  );
  const names = (await podsOf('worker')).sort();
  for (const [index, name] of names.entries()) load.set(name, index);
  expect(await kubectl.out('top', 'pods', '-l', 'app=worker', '--no-headers')).toMatch(/10m/);
  await kubectl.run(['apply', '-f', '-'], { stdin: autoscaler });
  await kubectl.run(['wait', '--for=jsonpath={.spec.replicas}=2', 'deployment/worker', '--timeout=120s']);
  await expect.poll(async () => (await podsOf('worker')).sort(), { timeout: 120_000 }).toEqual(names.slice(2));
  expect(await kubectl.out('get', 'hpa', 'worker', '--no-headers')).toMatch(
    /Deployment\/worker\s+cpu: 10%\/50%\s+2\s+8/,
  );
}, 300_000);

const follower = `
apiVersion: v1
kind: ConfigMap
metadata: { name: celery, labels: { metrics.quorate.dev/external: 'true', queue: default } }
data: { queue_length: '30' }
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: follower }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: follower }
  maxReplicas: 5
  metrics:
    - type: External
      external:
        metric: { name: queue_length, selector: { matchLabels: { queue: default } } }
        target: { type: AverageValue, averageValue: '10' }
    - type: Pods
      pods: { metric: { name: tasks }, target: { type: AverageValue, averageValue: '4' } }
`;

test('an autoscaler follows the length of a queue, and says which metric it cannot read', async () => {
  await kubectl.run(['create', 'deployment', 'follower', '--image=w']);
  await rolledOut('follower');
  await kubectl.run(['apply', '-f', '-'], { stdin: follower });
  await kubectl.run(['wait', '--for=jsonpath={.spec.replicas}=3', 'deployment/follower', '--timeout=60s']);
  const path = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue_length?labelSelector=queue%3Ddefault';
  expect(JSON.parse(await kubectl.out('get', '--raw', path))).toMatchObject({ items: [{ value: '30' }] });
  await expect
    .poll(() => kubectl.out('get', 'hpa', 'follower', '--no-headers'), { timeout: 120_000 })
    .toMatch(/Deployment\/follower\s+30\/10 \(avg\), <unknown>\/4\s+1\s+5/);
  const text = await kubectl.out('describe', 'hpa', 'follower');
  expect(text).toMatch(/"queue_length" \(target average value\):\s+30 \/ 10/);
  expect(text).toMatch(/Warning\s+FailedGetPodsMetric.*no metrics returned from custom metrics API/);
  expect(text).toMatch(/Normal\s+SuccessfulRescale.*New size: 3; reason: external metric queue_length/);
  expect(text).toMatch(/ScalingActive\s+True\s+ValidMetricFound/);
}, 300_000);

test('a picker that is not one is refused with the path of the field', async () => {
  const bad = worker(0).split('---')[0] as string;
  const { stderr } = await kubectl.run(['apply', '-f', '-'], { stdin: bad.replaceAll('worker', 'bad'), fails: true });
  expect(stderr).toContain('spec.downscalePodPicker.http.port');
}, 300_000);
