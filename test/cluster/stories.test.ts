/** The stories of test/scenarios/stories, told unchanged on a real cluster with the operator and our scheduler. */
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { disruptionLedgerType } from '../../src/api/quorate/types.ts';
import { podDisruptionBudgetType } from '../../src/api/resource-types.ts';
import { startClusterScheduler, startNodes } from '../../src/app/index.ts';
import { isNotFound, silentLogger } from '../../src/machinery/runtime/index.ts';
import { createKubectl } from '../clients/kubectl.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import { tellStories } from '../scenarios/stories/all.ts';
import type { StoryHost } from '../scenarios/stories/host.ts';
import * as stage from './stage.ts';

let host: StoryHost;

beforeAll(async () => {
  // Replace mode: every spelling of a budget is exact there, as on the embedded host.
  const plane = await stage.startPlane({
    flags: { 'kube-controller-manager': ['--controllers=*,-disruption-controller'] },
  });
  const client = createNetworkClient(plane, 'quorate-test');
  const nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 3 } });
  await stage.prepareCluster(plane);
  const operator = await stage.startReplica(plane, 'stories', 'replace', {
    pickers: { pickerAddresses: { allow: ['127.0.0.0/8'] } },
  });
  await stage.registerWebhooks(plane, operator);
  const scheduler = await startClusterScheduler({ kubeconfig: plane.kubeconfig, log: silentLogger });
  const kubectl = createKubectl(plane.kubeconfig, join(plane.binaries, 'kubectl'));
  await kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s']);
  host = {
    client,
    kubeconfig: plane.kubeconfig,
    kubectl,
    groups: stage.groupVersion,
    schedulerName: scheduler.schedulerName,
    async givePicker(namespace, name, picker) {
      await stage.apply(plane, {
        apiVersion: 'policy.quorate.dev/v1alpha1',
        kind: 'DownscalePodPicker',
        metadata: { name, namespace },
        spec: { targetRef: { kind: 'Deployment', name }, ...picker },
      });
    },
    async allowed(namespace, name) {
      try {
        const budget = await client.get(podDisruptionBudgetType, { namespace, name });
        const { status } = await client.get(disruptionLedgerType, { namespace, name });
        // The API server goes by the budget's own status, which is written after the ledger; where its number leaves too
        // little room, that is made before a grant.
        const current = [status, budget.status].every((one) => one?.observedGeneration === budget.metadata.generation);
        return current ? status?.disruptionsAllowed : undefined;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async published(namespace, name) {
      return (await client.get(disruptionLedgerType, { namespace, name })).status ?? {};
    },
    async stop() {
      kubectl.close();
      scheduler.stop();
      await operator.stop();
      nodes.stop();
      await plane.stop();
    },
  };
});
afterAll(() => host?.stop());

tellStories(() => host);
