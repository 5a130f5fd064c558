/** The story of a planned drain: each gang moves once, one after the other. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isPodReady } from '../../../src/api/core/pod-state.ts';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { quorate } from './command.ts';
import { budget, podGroup, workload } from './groups.ts';
import { begin, end, type StoryHost, until, untilAllowed } from './host.ts';

const gang = (name: string, schedulerName: string) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: { gang: name } },
    template: {
      metadata: { labels: { app: 'train', gang: name } },
      spec: {
        schedulerName,
        terminationGracePeriodSeconds: 0,
        schedulingGroup: { podGroupName: name },
        containers: [{ name: 'main', image: 'main' }],
      },
    },
  },
});

export function tellPlanStories(on: () => StoryHost): void {
  const podsIn = async (namespace?: string): Promise<Pod[]> => (await on().client.list(podType, { namespace })).items;

  test('quorate plan drain and quorate drain --plan move two gangs off two nodes, each once', async () => {
    const host = on();
    const { groups, kubectl, schedulerName } = host;
    await until('the pods of other stories to be gone', async () =>
      (await podsIn()).every(({ spec }) => !spec?.nodeName?.startsWith('node-')),
    );
    await kubectl.run(['cordon', 'node-2']);
    await begin(
      host,
      'planned',
      workload(groups, 'train', 2),
      ...['a', 'b'].map((name) => podGroup(groups, name, 'train', 2)),
      ...['a', 'b'].map((name) => gang(name, schedulerName)),
      budget({ minAvailable: 1 }),
    );
    const serving = async (): Promise<boolean> => {
      const pods = await podsIn('planned');
      return pods.length === 4 && pods.every(isPodReady);
    };
    await until('both gangs to serve', serving);
    await untilAllowed(host, 'planned', 1);
    await kubectl.run(['uncordon', 'node-2']);

    const planned = await quorate(host, 'plan', 'drain', 'node-0', 'node-1', '-o', 'json');
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(planned.stdout)).toMatchObject({ plan: { disruptions: 2, hitAgain: 0, blocked: [] } });
    const folder = mkdtempSync(join(tmpdir(), 'quorate-plan-'));
    const file = join(folder, 'plan.json');
    writeFileSync(file, planned.stdout);
    const drained = await quorate(host, 'drain', '--plan', file, '--ignore-daemonsets', '--timeout=240s');
    rmSync(folder, { recursive: true, force: true });
    expect(drained, drained.stdout + drained.stderr).toMatchObject({ code: 0 });
    await until('both gangs to serve again', serving);
    expect(new Set((await podsIn('planned')).map(({ spec }) => spec?.nodeName))).toEqual(new Set(['node-2']));
    await kubectl.run(['uncordon', 'node-0', 'node-1']);
    await end(host, 'planned');
  });
}
