/** The storm's gangs on the embedded server, or on the real binaries with two replicas of the operator. */
import { startNodes } from '../../src/app/index.ts';
import { secretType } from '../../src/api/resource-types.ts';
import {
  createClient,
  createHttpTransport,
  loadKubeconfig,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { startControlPlane } from '../../src/testkit/index.ts';
import type { OperatorMode } from '../../src/webhook/index.ts';
import { builtinType } from '../../src/api/registry.ts';
import { splitApiVersion } from '../../src/api/resource.ts';
import { disruptionLedgerType } from '../../src/api/quorate/types.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { balance, runOperator } from '../cluster/operator-process.ts';
import * as stage from '../cluster/stage.ts';
import { watchPods } from './checker.ts';
import { BUDGETS, NAMESPACE, stormObjects } from './gangs.ts';
import type { StormHost } from './storm.ts';

export interface RunningHost extends StormHost {
  stop(): Promise<void>;
}

export async function startEmbeddedHost(seed: number): Promise<RunningHost> {
  const plane = await startControlPlane({ clock: systemClock, nodes: 2, controllers: true, seed });
  for (const object of stormObjects('v1beta1')) {
    const { apiVersion, kind, metadata } = object as { apiVersion: string; kind: string; metadata: object };
    const { group, version } = splitApiVersion(apiVersion);
    const namespaced = { ...object, metadata: { ...metadata, namespace: NAMESPACE } };
    await plane.client.create(builtinType(kind, group, version), namespaced as never);
  }
  const checker = await watchPods(plane.client);
  await stage.until('all gangs to be ready', () => checker.areAllReady());
  return {
    client: () => plane.client,
    checker,
    async stop() {
      checker.stop();
      await plane.stop();
    },
  };
}

/** In mode replace the plane must run without the disruption controller. */
export async function startClusterHost(plane: RealControlPlane, mode: OperatorMode = 'adopt'): Promise<RunningHost> {
  const nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'storm' });
  await stage.prepareCluster(plane);
  const replicas = ['one', 'two'].map((identity) => runOperator(plane.kubeconfig, identity, ['--mode', mode]));
  await stage.until('both replicas to be ready', () => replicas.every((one) => one.port() !== undefined), 240_000);
  const balancer = await balance(replicas);
  const secret = await client.get(secretType, { namespace: stage.NAMESPACE, name: 'quorate-webhook-tls' });
  const authority = Buffer.from(secret.data?.['ca.crt'] ?? '', 'base64').toString('utf8');
  await stage.writeWebhooks(plane, { authority, webhookPort: balancer.port }, 'native', mode);
  await stage.apply(plane, ...stormObjects(stage.groupVersion));
  const checker = await watchPods(client);
  await stage.until('all gangs to be ready', () => checker.areAllReady(), 240_000);
  await stage.until('the ledgers to count all gangs', async () => {
    for (const { gangs, name } of BUDGETS) {
      const { status } = await client.get(disruptionLedgerType, { namespace: NAMESPACE, name });
      if (status?.currentHealthy !== gangs.length || status.expectedPods !== gangs.length) return false;
    }
    return true;
  });
  return {
    client: () => client,
    checker,
    replicas: {
      kill: (draw) => replicas[Math.floor(draw * replicas.length)]?.crash(),
      roll(draw) {
        if (replicas.some((one) => one.port() === undefined)) return false;
        void replicas[Math.floor(draw * replicas.length)]?.rollOver();
        return true;
      },
      async loseLedger(draw) {
        const { name = '' } = BUDGETS[Math.floor(draw * BUDGETS.length)] ?? {};
        return client.delete(disruptionLedgerType, { namespace: NAMESPACE, name }).then(
          () => true,
          () => false,
        );
      },
    },
    async stop() {
      checker.stop();
      for (const replica of replicas) await replica.stop();
      await balancer.close();
      nodes.stop();
      transport.close();
    },
  };
}
