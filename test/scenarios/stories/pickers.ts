/** The stories of KEP-3189: the application chooses the pods that go when an autoscaler shrinks it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPodPicker, leastFirst, type ListeningPicker } from '../../../src/picker-sdk/index.ts';
import { begin, end, podsOf, type StoryHost, until } from './host.ts';

const deployment = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main' }] },
    },
  },
});

export function tellPickerStories(on: () => StoryHost): void {
  const sessions = new Map<string, number>();
  let service: ListeningPicker;
  beforeAll(async () => {
    const picker = createPodPicker(({ candidates, count }) =>
      leastFirst(candidates, count, (name) => sessions.get(name)),
    );
    service = await picker.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => service?.close());

  async function deploy(namespace: string, replicas: number, port: number): Promise<string[]> {
    const host = on();
    // Empty at first: the picker is long known by the time there is something to choose from.
    await begin(host, namespace, deployment(0));
    await host.givePicker(namespace, 'web', { http: { host: '127.0.0.1', port } });
    await host.kubectl.run(['scale', 'deployment/web', '-n', namespace, `--replicas=${replicas}`]);
    await host.kubectl.run(['rollout', 'status', 'deployment/web', '-n', namespace, '--timeout=120s']);
    return podsOf(host, namespace);
  }
  async function shrink(namespace: string, to: number): Promise<string[]> {
    const host = on();
    // What an autoscaler does: it writes the scale of the Deployment.
    await host.kubectl.run(['scale', 'deployment/web', '-n', namespace, `--replicas=${to}`]);
    await until('the pods to go', async () => (await podsOf(host, namespace)).length === to);
    return podsOf(host, namespace);
  }

  test('an autoscaler shrinks a website, and the pods with the fewest sessions go', async () => {
    const host = on();
    const names = await deploy('web', 5, service.port);
    for (const [index, name] of names.entries()) sessions.set(name, [7, 0, 9, 1, 8][index] ?? 0);
    expect(await shrink('web', 3)).toEqual([names[0], names[2], names[4]]);
    await end(host, 'web');
  });

  test('a picker that is down keeps nothing from shrinking, and an event on the ReplicaSet says so', async () => {
    const host = on();
    await deploy('down', 2, 1);
    expect(await shrink('down', 1)).toHaveLength(1);
    await until('the event', async () => {
      const events = await host.kubectl.out('get', 'events', '-n', 'down');
      return /DownscalePodPickerFailed\s+replicaset\/web-\S+\s+.*ConnectionFailed/.test(events);
    });
    await end(host, 'down');
  });
}
