import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe } from 'vitest';
import { endpointSliceController } from '../../src/controllers/kubernetes/endpoint-slice/index.ts';
import { endpointSliceMirroringController } from '../../src/controllers/kubernetes/endpoint-slice-mirroring/index.ts';
import { endpointsController } from '../../src/controllers/kubernetes/endpoints/index.ts';
import { garbageCollector } from '../../src/controllers/kubernetes/garbage-collector/index.ts';
import { namespaceController } from '../../src/controllers/kubernetes/namespace/index.ts';
import { resourceQuotaController } from '../../src/controllers/kubernetes/resource-quota/index.ts';
import { createRootCaController } from '../../src/controllers/kubernetes/root-ca/index.ts';
import { serviceAccountController } from '../../src/controllers/kubernetes/service-account/index.ts';
import {
  type Client,
  type ControllerContext,
  InformerSet,
  Metrics,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { createNetworkClient } from '../kubernetes/network-client.ts';
import { describeBuiltinControllers } from '../scenarios/builtin-controllers.ts';

/** Our controllers in place of the controller manager, on the real API server. */
describe('built-in controllers on a real API server', () => {
  let plane: RealControlPlane;
  let client: Client;
  const stop = new AbortController();

  beforeAll(async () => {
    plane = await startRealControlPlane({ components: [] });
    client = createNetworkClient(plane, 'quorate-test');
    const { signal } = stop;
    const options = { client, clock: systemClock, log: silentLogger, signal };
    const context: ControllerContext = {
      ...options,
      clientFor: () => client,
      informers: new InformerSet(options),
      metrics: new Metrics(),
      eventsFor: () => ({ record: () => {} }),
      random: Math.random,
    };
    const controllers = [
      namespaceController,
      serviceAccountController,
      createRootCaController(readFileSync(plane.caFile, 'utf8')),
      garbageCollector,
      resourceQuotaController,
      endpointsController,
      endpointSliceController,
      endpointSliceMirroringController,
    ];
    for (const controller of controllers) controller.start(context);
  });
  afterAll(async () => {
    stop.abort();
    await plane?.stop();
  });

  describeBuiltinControllers(() => ({ client }));
});
