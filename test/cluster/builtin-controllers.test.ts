import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe } from 'vitest';
import { startEndpointSliceController } from '../../src/controllers/endpoint-slice/index.ts';
import { startEndpointSliceMirroringController } from '../../src/controllers/endpoint-slice-mirroring/index.ts';
import { startEndpointsController } from '../../src/controllers/endpoints/index.ts';
import { startGarbageCollector } from '../../src/controllers/garbage-collector/index.ts';
import { startNamespaceController } from '../../src/controllers/namespace/index.ts';
import { startResourceQuotaController } from '../../src/controllers/resource-quota/index.ts';
import { rootCaController } from '../../src/controllers/root-ca/index.ts';
import { startServiceAccountController } from '../../src/controllers/service-account/index.ts';
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
    startNamespaceController(context);
    startServiceAccountController(context);
    rootCaController(readFileSync(plane.caFile, 'utf8'))(context);
    startGarbageCollector(context);
    startResourceQuotaController(context);
    startEndpointsController(context);
    startEndpointSliceController(context);
    startEndpointSliceMirroringController(context);
  });
  afterAll(async () => {
    stop.abort();
    await plane?.stop();
  });

  describeBuiltinControllers(() => ({ client }));
});
