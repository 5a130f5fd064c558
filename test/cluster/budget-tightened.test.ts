/** A budget that is tightened, and evictions in the milliseconds that a watch takes to tell of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disruptionLedgerType } from '../../src/api/quorate/types.ts';
import { podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { ApiError, type Client, silentLogger } from '../../src/machinery/runtime/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import * as groups from '../scenarios/stories/groups.ts';
import * as stage from './stage.ts';

/** `QUORATE_TIGHTEN_ROUNDS=500` asks as often as the specification does. */
const ROUNDS = Number(process.env['QUORATE_TIGHTEN_ROUNDS'] ?? 25);
const GANGS = ['g0', 'g1', 'g2'];
const key = { namespace: 'default', name: 'training' };
const NO_BUILTIN = ['--controllers=*,-disruption-controller'];

for (const mode of ['adopt', 'alongside', 'replace'] as const) {
  describe(`in mode ${mode}`, () => {
    let plane: RealControlPlane;
    let nodes: NodesHost;
    let operators: Operator[] = [];
    let client: Client;

    beforeAll(async () => {
      plane = await stage.startPlane({
        components: ['kube-controller-manager'],
        ...(mode === 'replace' && { flags: { 'kube-controller-manager': NO_BUILTIN } }),
      });
      client = createNetworkClient(plane, 'quorate-test');
      nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 1 } });
      await stage.prepareCluster(plane);
      // The replica that is asked is not the one that counts, so that it hears of everything by its watches only.
      operators = [await stage.startReplica(plane, 'counts', mode), await stage.startReplica(plane, 'asked', mode)];
      await stage.registerWebhooks(plane, operators[1] as Operator, 'native', mode);
      const members = GANGS.flatMap((gang) => [member(gang, 0), member(gang, 1)]);
      const gangs = GANGS.map((gang) => groups.podGroup(stage.groupVersion, gang, key.name, 2));
      await stage.apply(plane, groups.workload(stage.groupVersion, key.name, 2), ...gangs, ...members, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: key,
        spec: { minAvailable: 2, selector: { matchLabels: { app: key.name } } },
      });
    });

    afterAll(async () => {
      for (const operator of operators) await operator.stop();
      nodes?.stop();
      await plane?.stop();
    });

    const demand = (minAvailable: number) =>
      client.patch(podDisruptionBudgetType, key, { type: 'merge', body: { spec: { minAvailable } } });
    /** Resolves when all gangs are up, as a pod that is Pending may always go, and all have heard that one may go. */
    const untilLoose = () =>
      stage.until('one gang to be let go', async () => {
        const { status } = await client.get(disruptionLedgerType, key);
        const budget = await client.get(podDisruptionBudgetType, key);
        const isCounted = budget.status?.observedGeneration === budget.metadata.generation;
        return status?.currentHealthy === GANGS.length && isCounted && (await evictAll(0, ['All'])).includes(201);
      });
    const evictAll = (at: number, dryRun?: string[]): Promise<number[]> =>
      Promise.all(GANGS.map((gang) => evict(`${gang}-${at}`, dryRun)));

    async function evict(name: string, dryRun?: string[]): Promise<number> {
      const metadata = { name, namespace: key.namespace };
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata,
        ...(dryRun && { deleteOptions: { dryRun } }),
      };
      try {
        await client.createSubresource(podType, metadata, 'eviction', body);
        return 201;
      } catch (error) {
        if (error instanceof ApiError) return error.code;
        throw error;
      }
    }

    test(`18.4 GR-13: ${ROUNDS} times tightened and evicted at once, always refused`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await untilLoose();
        await demand(3);
        expect(await evictAll(round % 2), `round ${round + 1}`).toEqual([429, 429, 429]);
        // But for alongside a replica may note by the old numbers what the API server then refuses by itself: it carries
        // out nothing under a budget whose change our controller has not counted.
        const { grants = [] } = (await client.get(disruptionLedgerType, key)).status ?? {};
        if (mode === 'alongside') expect(grants).toEqual([]);
        await demand(2);
      }
      await untilLoose();
      expect(await evictAll(0), 'what is not tightened is let go').toContain(201);
    }, 1_800_000);
  });
}

const member = (gang: string, at: number): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${gang}-${at}`, namespace: key.namespace, labels: { app: key.name } },
  spec: {
    nodeName: 'node-0',
    terminationGracePeriodSeconds: 1,
    schedulingGroup: { podGroupName: gang },
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }],
  },
});
