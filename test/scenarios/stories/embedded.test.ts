/** The stories on the embedded host; test/cluster/stories.test.ts tells the same on a real cluster. */
import { afterAll, beforeAll, vi } from 'vitest';
import { deploymentType, podDisruptionBudgetType } from '../../../src/api/resource-types.ts';
import { startHost } from '../../clients/host.ts';
import { createKubectl } from '../../clients/kubectl.ts';
import { tellStories } from './all.ts';
import type { StoryHost } from './host.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

let host: StoryHost;

beforeAll(async () => {
  const embedded = await startHost({ nodes: 3, pickers: { pickerAddresses: { allow: ['127.0.0.0/8'] } } });
  const { client, kubeconfig } = embedded;
  const kubectl = createKubectl(kubeconfig);
  await kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s']);
  host = {
    client,
    kubeconfig,
    kubectl,
    groups: 'v1beta1',
    schedulerName: 'default-scheduler',
    async givePicker(namespace, name, downscalePodPicker) {
      const body = { spec: { downscalePodPicker } };
      await client.patch(deploymentType, { namespace, name }, { type: 'merge', body });
    },
    async allowed(namespace, name) {
      const { metadata, status } = await client.get(podDisruptionBudgetType, { namespace, name });
      return status?.observedGeneration === metadata.generation ? status?.disruptionsAllowed : undefined;
    },
    async published(namespace, name) {
      return (await client.get(podDisruptionBudgetType, { namespace, name })).status ?? {};
    },
    async stop() {
      kubectl.close();
      await embedded.stop();
    },
  };
});
afterAll(() => host?.stop());

tellStories(() => host);
